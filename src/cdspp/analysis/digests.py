"""The digests that a report states of the files behind it, and changes since."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path

from cdspp.core.names import PathLike
from cdspp.core.provenance import file_digest
from cdspp.core.whole_files import atomic
from cdspp.core.wording import counted
from cdspp.study.files import FIGURE_FORMS, TABLE_FORMS

REPORT = "report/index.html"  # in the folder of a study

NAMED = 3  # of changed files, in a note
_FORMS = "|".join(("npz", "parquet", *TABLE_FORMS, *FIGURE_FORMS))
_STATED = re.compile(rf"<dt>([^<]+\.(?:{_FORMS}))</dt><dd>([0-9a-f]{{64}})</dd>")


def stated_digests(
    files: Iterable[PathLike], results: PathLike
) -> list[tuple[str, str]]:
    """Return name and sha256 digest of files, named as they lie in ``results``."""
    return [
        (Path(os.path.relpath(file, results)).as_posix(), file_digest(file))
        for file in dict.fromkeys(files)
    ]


def write_page(page: Path, text: str) -> None:
    """Write a page, and its digest beside it, as ``sha256sum`` does."""
    with atomic(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    with atomic(page.with_suffix(".sha256")) as temporary:
        temporary.write_text(f"{file_digest(page)}  {page.name}\n", encoding="utf-8")


def read_digests(page: Path) -> dict[str, str]:
    """Return the digests that a report states, by name; none without a report."""
    if not page.is_file():
        return {}
    text = page.read_text(encoding="utf-8", errors="replace")
    return {unescape(name): digest for name, digest in _STATED.findall(text)}


def changed_note(root: Path) -> str:
    """Say which files of ``results/<study>`` changed; what is gone is made again."""
    stated = read_digests(root / REPORT).items()
    own = {name: digest for name, digest in stated if name.startswith(f"{root.name}/")}
    files = [str(path) for path, _ in changed_files(root, own) if path.is_file()]
    if not files:
        return ""
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return (
        f"{counted(len(files), 'file')} changed since the report, by hand or by a run "
        f"that did not end: {', '.join(files[:NAMED])}{more}. A run remakes those that "
        f"you delete; cdspp verify {root} compares all."
    )


def changed_files(root: Path, stated: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield files that differ from their stated digests or are gone, and why."""
    page = root / REPORT
    beside = page.with_suffix(".sha256")
    known = beside.read_text("utf-8", errors="replace") if beside.is_file() else ""
    if page.is_file() and not page.read_bytes().rstrip().endswith(b"</html>"):
        yield page, "it is no whole page. Delete it and run the study again"
    elif page.is_file() and not known.startswith(file_digest(page)):
        wrong = (
            "it is not the page that its digest beside it (index.sha256) is of: it was "
            "changed by hand. Delete it and run the study again"
        )
        yield page, wrong
    for name, digest in stated.items():
        path = Path(os.path.normpath(root.parent / name))
        # What lies elsewhere, predictions of another program, no run makes again.
        remedy = "Run" if name.startswith("..") else "Delete it and run"
        if not path.is_file():
            yield path, "the report was made of it, but it is gone. Run the study again"
        elif (found := file_digest(path)) != digest:
            wrong = (
                f"the report was made of another content (sha256 {digest[:12]}, now "
                f"{found[:12]}): it was changed by hand, or by a run that did not end. "
                f"{remedy} the study again"
            )
            yield path, wrong
