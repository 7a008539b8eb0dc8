"""A published data set of five images and two texts, for tests of downloads."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.loopback import Server

from cdspp.core.errors import DataError
from cdspp.datasets.resources import fetch_resource

IMAGES = {
    "images/paint/mug/a.jpg": b"mug a",
    "images/paint/mug/B.jpg": b"mug B",
    "images/paint/bike/a.jpg": b"bike a",
    "images/real/mug/a.jpg": b"mug real",
    "images/real/bike/a.jpg": b"bike real",
}
ENTRY = {
    "title": "Toy",
    "kind": "images",
    "classes": ["mug", "bike"],
    "class_sizes": {"paint": [2, 1], "real": [1, 1]},
    "licence": "none",
    "source": "this test",
    "content": "five images",
}
WORDS = {"EN/Index_EN-EN": b"C15 1:0.5\n", "SP/Index_SP-SP": b"M11 2:0.5\n"}
FOLDERS = {"paint": "Paint Box"}


class Toy:
    """A data set with one resource called `toy`, and a server to fetch it from."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server
        self.catalogue = root / "resources" / "datasets.yaml"
        self.catalogue.parent.mkdir()
        self.folder = root / "data" / "set"
        self.record = self.folder / "toy.fetched.json"
        self.mirror: str | None = None

    def manifest(self, files: Mapping[str, bytes]) -> str:
        lines = ["path\tsize\tgit_blob\n"]
        for path, content in files.items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            lines.append(f"{path}\t{len(content)}\t{blob}\n")
        (self.catalogue.parent / "set.tsv").write_text("".join(lines))
        return "set.tsv"

    def fetch(self, *ways: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        entry = copy.deepcopy(ENTRY) | {
            "resources": {"toy": {"ways": list(ways), **more}}
        }
        self.catalogue.write_text(yaml.safe_dump({"set": entry}))
        fetch_resource(
            dataset="set",
            resource="toy",
            catalogue=self.catalogue,
            output=self.record,
            mirror=self.mirror,
        )
        return json.loads(self.record.read_text())

    def refuse(self, message: str, *ways: Mapping[str, Any], **more: Any) -> None:
        """Fetch, in vain; leave no record and nothing half-made."""
        with pytest.raises(DataError, match=message):
            self.fetch(*ways, **more)
        assert not self.record.exists()
        assert not list(self.root.glob("data/**/.*"))

    def contents(self, folder: str = "set") -> dict[str, bytes]:
        found = contents(self.root / "data" / folder)
        return {path: found[path] for path in found if path != self.record.name}


def contents(root: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder by its path."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def fetch_from_mirror(
    resource: str, mirror: Path, repository: Path, root: Path
) -> Path:
    """Fetch a resource of Office-Caltech from a mirror; return where its record is."""
    output = root / "office-caltech-10" / f"{resource}.fetched.json"
    fetch_resource(
        dataset="office-caltech-10",
        resource=resource,
        catalogue=repository / "resources" / "datasets.yaml",
        output=output,
        mirror=str(mirror),
    )
    return output


def make_tar(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def make_zip(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def image_archive(files: Mapping[str, bytes]) -> bytes:
    renamed = {
        f"repo-0bcf/{path.replace('/paint/', '/Paint Box/')}": content
        for path, content in files.items()
    }
    return make_tar({"repo-0bcf/README.md": b"read me", **renamed})


def tree(*urls: str, **checks: Any) -> dict[str, Any]:
    archive = {"name": "set.tar.gz", "urls": list(urls), **checks}
    return {"archive": archive, "tree": "*/images", "folders": FOLDERS}
