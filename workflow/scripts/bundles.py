"""The files that an index or a record of fetched files names, as one file beside it.

Storage has them for jobs that share no disk. They are unpacked beside the index again.
"""

import tarfile
from pathlib import Path

from cdspp.core.files import atomic, read_json
from cdspp.datasets.base import ROWS_NAME, read_index


def pack_index(index, bundles):
    """Pack what was made beside an index; files of the user are not there."""
    content, folder = read_index(index), Path(index).parent
    rows = [f"{domain}/{ROWS_NAME}" for domain in content.domains]
    names = [sample.path for d in content.domains for sample in content.samples(d)]
    _pack(folder, [*filter(None, names), *rows], bundles)


def pack_fetched(record, bundles):
    """Pack what a record of fetched files names."""
    _pack(Path(record).parent, read_json(record)["files"], bundles)


def _pack(folder, names, bundles):
    for bundle in bundles:  # one, or none where a disk is shared
        with atomic(bundle) as part, tarfile.open(part, "w") as archive:
            for name in sorted({*names}):
                if (folder / name).is_file():
                    archive.add(folder / name, name)


def unpack(bundles):
    """Put the content of each bundle beside it; jobs may do so at a time."""
    for bundle in map(Path, bundles):
        with tarfile.open(bundle) as archive:
            for member in archive:
                with atomic(bundle.parent / member.name) as part:
                    part.write_bytes(archive.extractfile(member).read())
