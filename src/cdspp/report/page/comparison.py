"""The page of a comparison on one's own rows: the answer, the matrix, the numbers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from markupsafe import Markup

from cdspp.core.artifacts import atomic
from cdspp.report.page.page import environment, template_file
from cdspp.report.tables.comparison import comparison_table
from cdspp.report.tables.table import to_fragment

if TYPE_CHECKING:
    from cdspp.analysis.decision import Comparison

__all__ = ["write_comparison"]


def write_comparison(
    found: Comparison, rows: list[str], output: str | os.PathLike[str]
) -> None:
    """Write a comparison as a single HTML file that needs nothing else.

    Parameters
    ----------
    found : Comparison
        What `cdspp.analysis.compare.compare` returned.
    rows : list of str
        What was read, a line a file.
    output : path
        File to write.
    """
    page = (
        environment()
        .get_template("comparison.html.j2")
        .render(
            answer=found.sentence,
            rows=rows,
            table=Markup(to_fragment(comparison_table(found))),
            style=Markup(template_file("report.css")),
        )
    )
    with atomic(output) as temporary:
        temporary.write_text(page, encoding="utf-8")
