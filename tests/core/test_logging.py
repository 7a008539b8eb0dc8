"""The library logs by `logging`, and leaves the screen to the command."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import cdspp

PACKAGE = Path(cdspp.__file__).parent
# The process that reads a MATLAB file answers on its output.
PIPE = "datasets/table_files.py"
SCREEN = "core/screen.py"
MODULES = sorted(
    file.relative_to(PACKAGE).as_posix()
    for file in PACKAGE.rglob("*.py")
    if file.relative_to(PACKAGE).parts[0] not in ("cli", "__main__.py")
)


def printed(code: str) -> list[str]:
    """Return the places of code that print, or name the screen."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(code))
        if (isinstance(node, ast.Call) and ast.unparse(node.func) == "print")
        or (
            isinstance(node, ast.Attribute)
            and node.attr in ("stdout", "stderr")
            and ast.unparse(node.value) == "sys"
        )
    ]


def test_no_module_but_the_command_prints() -> None:
    assert printed("import sys\nprint(1)\nsys.stderr.write(2)") == [
        "print(1)",
        "sys.stderr",
    ]
    found = {name: printed((PACKAGE / name).read_text()) for name in MODULES}
    assert {name: places for name, places in found.items() if places} == {
        PIPE: ["sys.stdout"],
        SCREEN: ["sys.stdout", "sys.stderr"] * 2,
    }


def test_warnings_in_the_log_leave_the_screen_empty() -> None:
    code = (
        "import logging, cdspp.features.text\n"
        "logging.getLogger('cdspp.features.text').warning('three texts are empty')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


PRINTING = """\
import logging, os, sys, warnings
from cdspp.core.errors import DataError
from cdspp.core.jobs import job
with job(sys.argv[1]):
    print("printed \\x1b[2J")
    os.system("echo by a child >&2")
    warnings.warn("warned \\x1b[2J")
    logging.getLogger("cdspp.a").info("logged \\x1b[2J\\u202e")
    raise {error}
"""


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        ('DataError("x.csv: \\x1b[2J")', "DataError: x.csv: \\x1b[2J\n", 1),
        ("KeyboardInterrupt", "", 130),
    ],
)
def test_what_a_job_prints_is_in_its_log_and_steers_no_terminal(
    error: str, said: str, code: int, tmp_path: Path
) -> None:
    log = tmp_path / "one.log"
    program = [sys.executable, "-c", PRINTING.format(error=error), str(log)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)
    text = log.read_text()
    for told in ("printed", "Warning: warned", "logged", *["x.csv:"] * (code == 1)):
        assert f"{told} \\x1b[2J" in text
    assert "by a child\n" in text
    assert "\\u202e" in text
    assert not {"\x1b", "\u202e"} & {*text}
