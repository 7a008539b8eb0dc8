"""Bundles: the files that an index or a record of fetched files names, as one file.

Storage keeps them for jobs without a shared disk, which unpack them next to the index.
"""

import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cdspp.core.files import atomic, read_json
from cdspp.core.names import PathLike, Paths
from cdspp.datasets.base import ROWS_NAME, read_index


def pack_index(index: PathLike, bundles: Paths) -> None:
    """Pack the files made next to an index; files of the user are elsewhere."""
    content = read_index(Path(index))
    rows = [f"{domain}/{ROWS_NAME}" for domain in content.domains]
    names = [sample.path for d in content.domains for sample in content.samples(d)]
    _pack(Path(index).parent, [*filter(None, names), *rows], bundles)


def pack_fetched(record: PathLike, bundles: Paths) -> None:
    """Pack the files that a record of fetched files names."""
    _pack(Path(record).parent, read_json(record)["files"], bundles)


def _pack(folder: Path, names: Iterable[str], bundles: Paths) -> None:
    for bundle in bundles:  # at most one; none with a shared disk
        with atomic(bundle) as part, tarfile.open(part, "w") as archive:
            for name in sorted({*names}):
                if (folder / name).is_file():
                    archive.add(folder / name, name)


def unpack_bundles(files: Mapping[str, Any]) -> dict[str, Any]:
    """Unpack each bundle in its folder; return the files that a function takes.

    Several jobs may do so concurrently. `files` are the inputs of a job by name.
    """
    inputs = {**files}
    inputs.pop("own", None)  # read from their paths
    for bundle in map(Path, inputs.pop("bundles", ())):
        with tarfile.open(bundle) as archive:
            for member in archive.getmembers():
                content = archive.extractfile(member)
                if content is not None:
                    with atomic(bundle.parent / member.name) as part:
                        part.write_bytes(content.read())
    return inputs
