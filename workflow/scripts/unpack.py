"""Files that an index or a record of fetched files names, put beside it again."""

import tarfile
from pathlib import Path

from cdspp.core.files import atomic


def unpack(files):
    """Leave of a job's input what its function takes; jobs may do so at a time."""
    kept = {**files}
    kept.pop("own", None)
    for bundle in map(Path, kept.pop("bundles", ())):
        with tarfile.open(bundle) as archive:
            for member in archive:
                with atomic(bundle.parent / member.name) as part:
                    part.write_bytes(archive.extractfile(member).read())
    return kept
