"""Every command that writes, on every kind of place that a file may be written to."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.own_tables import write_problem

import cdspp.cli.init  # noqa: F401  (before its function is replaced)
from cdspp.__main__ import main
from cdspp.cli import command, study
from cdspp.core.files import write_csv, write_json
from cdspp.stages import external

pytestmark = pytest.mark.usefixtures("few_candidates")

TABLES = "--source {home}/source.csv --target {home}/target.csv"
PREDICT = "predict --model {home}/m.npz --target {home}/target.csv --output p.csv"
LINES = {
    "fit": f"fit --method svm-t {TABLES} --output p.csv --model n.npz",
    "predict": PREDICT,
    "compare": f"compare {TABLES} --repeats 5 --method cdspp-sup --csv c.csv "
    "--page c.html --json c.json --rows-to-label r.csv",
    "inspect": "inspect {home}/source.csv --page i.html",
    "init": "init mine --table {home}/source.csv --table {home}/target.csv",
    "export-splits": "export-splits mine.yaml --to .",
}
OUTPUTS = {
    "fit": ["p.csv", "n.npz"],
    "predict": ["p.csv"],
    "compare": ["c.csv", "c.html", "c.json", "r.csv"],
    "inspect": ["i.html"],
    "init": ["mine.yaml"],
    "export-splits": ["shop/goods/README.json", "shop/goods/splits.csv"],
}
EXISTS = "already exists. Choose another name, or overwrite it with --force."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables and a model."""
    folder = write_problem(tmp_path_factory.mktemp("home"))
    first = (
        f"fit --method svm-t {TABLES} --output {{home}}/p.csv --model {{home}}/m.npz"
    )
    assert main(shlex.split(first.format(home=folder))) == 0
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; export a study of two small files."""

    def export(folder: Path, *_: Any) -> int:
        write_json(folder / "README.json", {})
        write_csv(folder / "splits.csv", external.pd.DataFrame({"a": [1]}))
        return 1

    of_study = SimpleNamespace(
        name="shop", benchmarks=["goods"], trials=2, overlap=lambda *_: ""
    )
    monkeypatch.setattr(study, "read_study", lambda file: of_study)
    monkeypatch.setattr(study, "task_blocks", lambda *_: [])
    monkeypatch.setattr(study, "warn_if_changed", lambda *_: None)
    monkeypatch.setattr(external, "export_benchmark", export)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.fixture(params=LINES)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a command that writes."""
    return str(request.param)


def run(name: str, home: Path, *words: str) -> int:
    """Run a command on the tables of a folder."""
    return main([*shlex.split(LINES[name].format(home=home)), *words])


def outputs(name: str) -> list[Path]:
    """Return the files of a command, in folders that exist."""
    files = [*map(Path, OUTPUTS[name])]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
    return files


def mode(file: Path) -> int:
    """Return the mode of a file."""
    return stat.S_IMODE(file.stat().st_mode)


def content(folder: Path = Path()) -> dict[Path, bytes]:
    """Return the files below a folder with their bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_file_has_the_mode_of_the_umask(name: str, home: Path) -> None:
    assert run(name, home) == 0
    assert {mode(file) for file in outputs(name)} == {0o640}
    assert {*content()} == {*outputs(name)}


def test_a_replaced_file_keeps_its_mode_and_its_other_name_the_content(
    name: str, home: Path
) -> None:
    modes = (0o600, 0o444, 0o664, 0o755)
    for file, number in zip(outputs(name), modes, strict=False):
        file.write_text("old")
        file.chmod(number)
        Path(f"other-{file.name}").hardlink_to(file)
    assert run(name, home, "--force") == 0
    for file, number in zip(outputs(name), modes, strict=False):
        assert mode(file) == number
        assert file.read_bytes() != b"old"
        assert Path(f"other-{file.name}").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second group")
def test_a_file_in_a_folder_of_a_group_belongs_to_the_group(
    name: str, home: Path
) -> None:
    for file in outputs(name):
        os.chown(file.parent, -1, 12345)
        file.parent.chmod(0o2775)
    words = ["--force"] if name == "export-splits" else []
    assert run(name, home, *words) == 0
    assert {(f.stat().st_gid, mode(f)) for f in outputs(name)} == {(12345, 0o640)}


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFCHR])
def test_a_pipe_or_device_is_never_replaced(
    kind: int, name: str, home: Path, capsys: Any
) -> None:
    if kind == stat.S_IFCHR and os.geteuid() != 0:
        pytest.skip("needs the right to make a device")
    file = outputs(name)[-1]
    os.mknod(file, 0o600 | kind, os.makedev(1, 3))  # like /dev/null
    for words in ([], ["--force"]):
        assert run(name, home, *words) == 2
        assert str(file) in capsys.readouterr().err or name == "export-splits"
        assert stat.S_IFMT(file.stat().st_mode) == kind
        assert not content()


def test_a_link_stays_and_leads_to_the_new_content(name: str, home: Path) -> None:
    Path("disk").mkdir()
    for file in outputs(name):
        (Path("disk") / file.name).write_text("old")
        file.symlink_to(Path("disk").absolute() / file.name)
    assert run(name, home, "--force") == 0
    for file in outputs(name):
        assert file.is_symlink()
        assert (Path("disk") / file.name).read_bytes() == file.read_bytes() != b"old"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_another_command_wrote_meanwhile_is_kept(
    links: bool, name: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(1, "no links on this file system")

    monkeypatch.setattr(command, "check_outputs", lambda *_, **__: None)
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    last = outputs(name)[-1]
    last.write_text("theirs")
    assert run(name, home) == 2
    assert f"{last} {EXISTS}" in capsys.readouterr().err
    assert content() == {last: b"theirs"}
    last.unlink()
    assert run(name, home) == 0
    assert {*content()} == {*outputs(name)}


SMALL = """\
import json, os, subprocess, sys
from pathlib import Path
from cdspp.__main__ import main
from cdspp.analysis import pool
pool.WITHOUT_SOURCE = ("target-only",)
disk, home, kind, lines = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,nr_inodes=40", "none", disk],
    check=True)
os.chdir(disk)
fill = []
try:
    if kind == "inodes":
        while True:
            fill.append(Path(f"fill{len(fill)}"))
            fill[-1].touch()
    with open("fill", "wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))
except OSError:
    pass
def there():
    return {path: path.stat().st_size for path in Path().rglob("*")}
before, codes = there(), []
for line in json.loads(lines):
    codes.append(main(line))
    if there() != before:
        sys.exit(f"{line[0]} left {there().keys() ^ before.keys()}")
    if line[0] == "init":  # then there is room for one file
        if kind == "inodes":
            os.unlink("fill0")
        else:
            os.truncate("fill", os.path.getsize("fill") - 4096)
        before = there()
print(codes)
"""


@pytest.mark.parametrize("kind", ["inodes", "space"])
def test_on_a_small_disk_a_command_writes_all_or_nothing(
    kind: str, home: Path, here: Path
) -> None:
    pytest.importorskip("jinja2")
    unshare = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"]).returncode:
        pytest.skip("needs the right to mount a disk")
    names = ("predict", "init", "fit", "compare")
    lines = [shlex.split(LINES[name].format(home=home)) for name in names]
    words = [sys.executable, "-c", SMALL, here, home, kind, json.dumps(lines)]
    done = subprocess.run([*unshare, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[2, 2, 2, 2]\n"
    assert done.stderr.count("no space left on this disk") == 4
