"""Files that an index or a record of fetched files names, as one file beside it."""

import tarfile
from pathlib import Path

from cdspp.core.files import atomic, read_json
from cdspp.datasets.base import ROWS_NAME, read_index


def pack(record, bundles):
    """Write the bundle, if one is asked for; files of the user are not in it."""
    for bundle in bundles:
        folder, names = Path(record).parent, {*read_json(record).get("files", ())}
        if not names:
            index = read_index(record)
            names = {s.path for name in index.domains for s in index.samples(name)}
            names |= {f"{name}/{ROWS_NAME}" for name in index.domains}
        with atomic(bundle) as part, tarfile.open(part, "w") as archive:
            for name in sorted(filter(None, names)):
                if (folder / name).is_file():
                    archive.add(folder / name, name)
