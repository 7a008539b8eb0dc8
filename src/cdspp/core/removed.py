"""Names that users may still write although they were removed, each with a remedy."""

RELEASE = "0.4.0"  # the release that removed them
# By command: `cdspp <command>`.
COMMANDS: dict[str, str] = {
    "bundle": (
        "zip the folder results with the study file and its tables; the guide on "
        "reproducibility tells what to leave out if rows are confidential."
    ),
}
# By command and option: `cdspp <command> <option>`.
OPTIONS: dict[tuple[str, str], str] = {
    ("compare", "--why"): (
        "a study answers this question, with more trials: write its file with "
        "cdspp init, and run it with cdspp run."
    ),
}
# By command and the ending of a file that it read: `cdspp <command> mine<ending>`.
FILES: dict[tuple[str, str], str] = {
    ("verify", ".zip"): (
        "unpack the archive, and name the folder of results in it, such as "
        "results/mine."
    ),
}
# By path in a study file, without places in lists: `methods.grid` of every method.
KEYS: dict[str, str] = {}


def removal_text(name: str, remedy: str) -> str:
    """Return the message on a removed name.

    >>> removal_text("option --fast", "Choose fewer trials.")
    'option --fast was removed in 0.4.0: Choose fewer trials.'
    """
    return f"{name} was removed in {RELEASE}: {remedy}"
