"""`cdspp bundle`: what an archive holds, what it lacks, and how verify checks it."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from support.written_study import VerifiedStudy, write_page

from cdspp.__main__ import main
from cdspp.cli import share
from cdspp.core.files import write_record
from cdspp.core.provenance import file_digest

CONFIG: dict[str, Any] = {
    "datasets": [
        {"id": "goods", "tables": {"web": "web.csv", "photo": "gone.csv"}},
        {"id": "texts", "folder": "texts"},
    ],
    "methods": [
        {"id": "svm-t"},
        {"id": "mine", "class": "mine:Mine"},
        {"id": "theirs", "predictions": "theirs.csv"},
    ],
    "views": [{"id": "net", "extractor": "weighted:Own", "options": {"w": "w.txt"}}],
}
OWN = {
    "web.csv": "secret,label\n1,cup\n",
    "texts/left/cup/a.txt": "a cup",
    "w.txt": "cup 1",
    "mine.py": "import helper\n\n\nclass Mine:\n    pass\n",
    "helper.py": "",
    "weighted.py": "",
}
GONE = "ab" * 32


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run whose study has a report, to be copied."""
    folder = tmp_path_factory.mktemp("run")
    study = VerifiedStudy(folder / "results")
    for name, text in OWN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    index = folder / "data/goods/index.json"
    index.parent.mkdir(parents=True)
    index.write_text("{}")
    read = {"web.csv": file_digest(folder / "web.csv"), "gone.csv": GONE}
    write_record(index, "", read)
    theirs = folder / "theirs.csv"  # which the report rests on
    theirs.write_text("id,predicted\n")
    files = [study.scores, theirs, *sorted(study.results.glob("[fl]*/goods/*.*"))]
    page, config = study.root / "report/index.html", {"seed": 7, **CONFIG}
    records = sorted(study.root.glob("fits/goods/**/1-2.json"))
    write_page([study.plan], page, records=records, files=files, config=config)
    return folder


@pytest.fixture
def bundle(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> Callable[..., str]:
    """Return a function that packs shop.zip in a copy of that folder."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def pack(*words: str) -> str:
        assert main(["bundle", "results/shop", *words]) == 0
        return str(capsys.readouterr().out)

    return pack


def members(archive: str = "shop.zip") -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def write(found: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile("shop.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in found.items():
            archive.writestr(name, content)


def verified(capsys: Any) -> tuple[int, str]:
    try:
        code = main(["verify", "shop.zip"])
    except SystemExit as stopped:
        code = int(str(stopped.code))
    output = capsys.readouterr()
    return code, output.out + output.err


def test_what_a_bundle_lacks_is_told_with_its_digest(
    bundle: Callable[..., str], capsys: Any
) -> None:
    output, readme = bundle(), members()["shop/README.txt"].decode()
    for name, text in OWN.items():
        line = f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
        assert line in output
        assert line in readme
        assert f"shop/{name}" not in members()
    assert f"{GONE}  gone.csv\n" in output
    assert "theirs.csv" not in output
    assert "shop/theirs.csv" in members()
    code, output = verified(capsys)
    assert code == 0, output
    assert f"Compared {len(members()) - 1} members with SHA256SUMS: all memb" in output


def test_a_bundle_has_ids_and_labels_of_every_row(bundle: Callable[..., str]) -> None:
    """So docs/guide/two-tables.md says, and that the tables are not in it."""
    bundle()
    result = members()
    labels = pd.read_parquet(
        io.BytesIO(result["shop/results/labels/goods/web.parquet"])
    )
    assert {"id", "label"} <= {*labels}
    assert any(name.startswith("shop/results/features/") for name in result)
    assert not {"shop/web.csv", "shop/texts/left/cup/a.txt"} & result.keys()


def test_a_bundle_has_the_inputs_on_demand(bundle: Callable[..., str]) -> None:
    Path("w.txt").write_text("pot 1")  # no table: nobody knows what it was
    message = bundle("--with-inputs")
    assert f"{GONE}  gone.csv\n" in message
    assert "web.csv" not in message
    assert {f"shop/{name}" for name in OWN} <= members().keys()
    Path("web.csv").write_text("another\n")
    assert "  web.csv\n" in bundle("--with-inputs", "--force")
    assert "shop/web.csv" not in members()


def test_the_list_of_members_is_one_for_sha256sum(bundle: Callable[..., str]) -> None:
    bundle("--with-inputs")
    with zipfile.ZipFile("shop.zip") as archive:
        archive.extractall("elsewhere")
    check = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    subprocess.run(check, cwd="elsewhere/shop", check=True)


SCORES = "results/shop/scores/goods.parquet"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        *(("replace", name) for name in (*share.TEXTS, SCORES)),
        ("remove", "references.bib"),
        ("add", "study.json"),
    ],
)
def test_a_member_that_is_not_as_listed_is_named_and_nothing_is_unpacked(
    bundle: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
    name: str,
    change: str,
) -> None:
    bundle()
    result, place = members(), f"shop/{name}"
    if change == "replace":
        result[place] += b" "
    elif change == "remove":
        del result[place]
    else:
        place += ".bin"
        result[place] = bytes(10**7)
    write(result)
    monkeypatch.setattr(share, "extract", None)  # not to be called
    code, output = verified(capsys)
    assert code == 1
    assert f"shop.zip: {place} is not as in the list SHA256SUMS.\n" in output


def test_members_that_need_more_than_half_of_the_disk_are_refused_unread(
    bundle: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    bundle()
    total = sum(map(len, members().values()))
    for free, expected in ((2 * total, 0), (2 * total - 2, 2)):
        usage = SimpleNamespace(free=free)
        monkeypatch.setattr(share.shutil, "disk_usage", lambda path, u=usage: u)
        code, output = verified(capsys)
        assert code == expected, output
    assert f"its members take {total} bytes" in output


def test_a_bundle_without_its_list_is_refused(
    bundle: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    bundle()
    result = members()
    del result["shop/SHA256SUMS"]
    write(result)
    monkeypatch.setattr(share, "extract", None)  # not to be called
    code, output = verified(capsys)
    assert code == 2
    assert "shop.zip: expected an archive of cdspp bundle, with a list SHA" in output


def test_no_archive_or_another_one_is_refused(
    bundle: Callable[..., str], capsys: Any
) -> None:
    for content in (b"", b"text", None):
        Path("shop.zip").write_bytes(content or b"")
        if content is None:
            write({"a.txt": b"a"})
        assert verified(capsys)[0] == 2
    Path("shop.zip").unlink()
    assert main(["verify", "shop.zip"]) == 2
    assert capsys.readouterr().err == "cdspp: error: shop.zip: no such file.\n"


def test_the_configuration_in_a_bundle_is_that_of_the_report(
    bundle: Callable[..., str],
) -> None:
    bundle()
    assert json.loads(members()["shop/study.json"])["datasets"] == CONFIG["datasets"]


def listed(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return members with a list that agrees with them, as a stranger may write it."""
    others = {k: v for k, v in found.items() if k != f"shop/{share.SUMS}"}
    sums = (f"{hashlib.sha256(v).hexdigest()}  {k[5:]}\n" for k, v in others.items())
    return others | {f"shop/{share.SUMS}": "".join(sums).encode()}


def test_a_study_file_that_is_not_of_the_report_is_named(
    bundle: Callable[..., str], capsys: Any
) -> None:
    bundle()
    result = members()
    study = json.loads(result["shop/study.json"])
    result["shop/study.json"] = json.dumps(study | {"seed": 8}).encode()
    write(listed(result))
    code, output = verified(capsys)
    assert code == 1
    assert "shop.zip: study.json is not the study of the report.\n" in output


def test_a_member_in_front_hides_no_list(
    bundle: Callable[..., str], capsys: Any
) -> None:
    bundle()
    write({"a/first.txt": b"", **members()})
    code, output = verified(capsys)
    assert code == 1
    assert "shop.zip: a/first.txt is not as in the list SHA256SUMS.\n" in output


DIGESTS = "shop/results/shop/report/digests.json"


@pytest.mark.parametrize("key", ["files", "configuration", "page"])
def test_digests_of_another_type_are_a_fault_in_one_line(
    bundle: Callable[..., str], capsys: Any, key: str
) -> None:
    bundle()
    result = members()
    content = json.loads(result[DIGESTS])
    for value in (None, [], 5):
        result[DIGESTS] = json.dumps(content | {key: value}).encode()
        write(listed(result))
        code, output = verified(capsys)
        assert code == 1
        assert "digests.json: expected the digests of a report, but " in output


def test_a_name_in_an_archive_is_no_command_to_the_terminal(
    bundle: Callable[..., str], capsys: Any
) -> None:
    bundle()
    result = members()
    content = json.loads(result[DIGESTS])
    content["files"]["shop/\x1b[2J"] = 64 * "0"
    result[DIGESTS] = json.dumps(content).encode()
    write(listed(result))
    code, output = verified(capsys)
    assert code == 1
    assert "\x1b" not in output
    assert r"\x1b[2J" in output


@pytest.mark.parametrize("extra", [{"trials": 5}, {"trials": ["x"]}, {"dataset": 5}])
def test_a_record_of_other_types_is_a_fault_in_one_line(
    bundle: Callable[..., str], capsys: Any, extra: dict[str, Any]
) -> None:
    [record, *_] = sorted(Path("results/shop/fits").rglob("1-2.json"))
    content = json.loads(record.read_text())
    file = record.with_suffix(".parquet")
    content["extra"] |= extra
    write_record(file, content["made_of"], content["inputs"], content["extra"])
    with pytest.raises(SystemExit):
        main(["verify", "results/shop"])
    assert (
        "the record next to it has no trials or no data set" in capsys.readouterr().out
    )
