"""The command `cdspp`: the library from the shell."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code, that of a shell after Ctrl-C."""
    try:
        from cdspp.cli.main import main as run_line

        return run_line(argv)
    except KeyboardInterrupt:
        from cdspp.core.errors import INTERRUPTED

        sys.stderr.write("cdspp: interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
