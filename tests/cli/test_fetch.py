"""The command `cdspp fetch`: what is published, and failures."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.downloads import put

from cdspp.__main__ import main
from cdspp.datasets.catalogue import load_catalogue


def test_fetch_lists_what_is_published(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue = repository / "resources" / "datasets.yaml"
    assert main(["fetch", "--catalogue", str(catalogue)]) == 0
    lines = capsys.readouterr().out.splitlines()
    entries = load_catalogue(catalogue)
    published = {name for name, entry in entries.items() if "resources" in entry}
    assert {line.split()[0] for line in lines} == published
    assert published >= {"office-caltech-10", "backbones"}


def test_fetch_goes_on_after_a_resource_that_cannot_be_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = "{title: t, kind: splits, licence: l, source: s, content: c, resources: {"
    ways = (
        "a: {ways: [{files: [{name: a.txt}]}]}, b: {ways: [{files: [{name: b.txt}]}]}"
    )
    (tmp_path / "datasets.yaml").write_text(f"x: {entry}{ways}}}}}\n")
    mirror = put(tmp_path / "mirror", {"b.txt": b"content"})
    places = ["--data", str(tmp_path / "data"), "--mirror", str(mirror)]
    catalogue = ["--catalogue", str(tmp_path / "datasets.yaml")]
    assert main(["fetch", "x", *places, *catalogue]) == 2
    errors = capsys.readouterr().err
    assert "x: could not fetch a. The lines" in errors
    assert (tmp_path / "data/x/b.txt").read_text() == "content"
    assert main(["fetch", "x", "b", *places, *catalogue]) == 0
    assert main(["fetch", "y", *catalogue]) == 2
    assert "no published data set 'y'" in capsys.readouterr().err
