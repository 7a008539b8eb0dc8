"""Archives of the files that an index or a record of fetched files names.

Storage keeps them for nodes without a shared disk; jobs unpack them next to the index.
"""

import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cdspp.core.files import read_json
from cdspp.core.names import PathLike, Paths
from cdspp.core.outputs import atomic
from cdspp.datasets.base import ROWS_NAME, read_index


def pack_index(index: PathLike, archives: Paths) -> None:
    """Pack the files made next to an index; files of the user are elsewhere."""
    content = read_index(Path(index))
    rows = [f"{domain}/{ROWS_NAME}" for domain in content.domains]
    names = [sample.path for d in content.domains for sample in content.samples(d)]
    _pack(Path(index).parent, [*filter(None, names), *rows], archives)


def pack_fetched(record: PathLike, archives: Paths) -> None:
    """Pack the files that a record of fetched files names."""
    _pack(Path(record).parent, read_json(record)["files"], archives)


def _pack(folder: Path, names: Iterable[str], archives: Paths) -> None:
    for path in archives:  # at most one; none with a shared disk
        with atomic(path) as part, tarfile.open(part, "w") as archive:
            for name in sorted({*names}):
                if (folder / name).is_file():
                    archive.add(folder / name, name)


def unpack_archives(files: Mapping[str, Any]) -> dict[str, Any]:
    """Unpack each archive in its folder; return the files that a function takes.

    Several jobs may do so concurrently. `files` are the inputs of a job by name.
    """
    inputs = {**files}
    inputs.pop("own", None)  # read from their paths
    for path in map(Path, inputs.pop("archives", ())):
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                content = archive.extractfile(member)
                if content is not None:
                    with atomic(path.parent / member.name) as part:
                        part.write_bytes(content.read())
    return inputs
