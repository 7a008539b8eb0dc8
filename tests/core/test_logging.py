"""The library logs by `logging`, and leaves the screen to the command."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import cdspp

PACKAGE = Path(cdspp.__file__).parent
# The process that reads a MATLAB file answers on its output.
PIPE = "datasets/table_files.py"
MODULES = sorted(
    file.relative_to(PACKAGE).as_posix()
    for file in PACKAGE.rglob("*.py")
    if file.relative_to(PACKAGE).parts[0] != "cli"
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
        PIPE: ["sys.stdout"]
    }


def test_warnings_in_the_log_leave_the_screen_empty() -> None:
    code = (
        "import logging, cdspp.features.text\n"
        "logging.getLogger('cdspp.features.text').warning('three texts are empty')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
