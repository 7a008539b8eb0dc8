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


@pytest.mark.usefixtures("server")
def test_without_a_network_one_table_says_what_to_put_where(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    entry = "{title: t, kind: weights, licence: l, source: s, content: c, resources: {"
    file = "[{name: %s.txt, urls: ['http://127.0.0.1:9/%s'], mirror: sub/%s}]"
    files = {name: file % (name, name, name) for name in "ab"}
    ways = ", ".join(f"{k}: {{ways: [{{files: {v}}}]}}" for k, v in files.items())
    (tmp_path / "datasets.yaml").write_text(f"x: {entry}{ways}}}}}\n")
    catalogue = ["--catalogue", str(tmp_path / "datasets.yaml")]
    assert main(["fetch", "x", "--data", str(tmp_path / "data"), *catalogue]) == 2
    assert "a, b: no server can be reached. Put the fil" in capsys.readouterr().err
    assert caplog.messages[-1].split("\n")[1:-1] == [
        "file     bytes  digest                 address",
        "sub/a  unknown  none: nothing pins it  http://127.0.0.1:9/a",
        "sub/b  unknown  none: nothing pins it  http://127.0.0.1:9/b",
    ]


def test_the_downloads_of_a_study_are_listed_until_a_mirror_has_them(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CDSPP_MIRROR", raising=False)
    study = str(repository / "resources/studies/office-caltech.yaml")
    assert main(["fetch", "--list", study]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    assert ["office-caltech-10/surf/dslr.mat", "18348", "sha256"] in [
        line[:3] for line in lines
    ]
    put(tmp_path / "mirror", {line[0]: b"" for line in lines})
    assert main(["fetch", "--list", study, "--mirror", "mirror"]) == 0
    assert "all files to download are in data/" in capsys.readouterr().out
