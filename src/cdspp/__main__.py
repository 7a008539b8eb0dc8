"""The command `cdspp`: the library from the shell."""

import sys

from cdspp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
