"""The command `cdspp`: the library from the shell."""
