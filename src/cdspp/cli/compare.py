"""The command `cdspp compare`: should I use A for B, from two files of one's own."""

from __future__ import annotations

import argparse
import logging
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import (
    add_command,
    add_force,
    check_outputs,
    need_package,
    positive_integer,
)
from cdspp.cli.reading import (
    add_bridge,
    add_reading,
    add_scale,
    bridge_of,
    read_both,
    tell,
)
from cdspp.core.names import NO_SCALE, PCA, STANDARDISE, UNIT

if TYPE_CHECKING:
    from cdspp.analysis.decision import Comparison

__all__ = ["add_compare"]

# Learnt anew in each fit, so that here is said what, not with which numbers.
_SCALED = {
    NO_SCALE: "no scaling",
    UNIT: "rows scaled to unit length",
    STANDARDISE: "columns standardised",
    PCA: "PCA in each fit",
}

COMPARE_HELP = """\
Holds a fifth of the labelled target rows of each class out, again and again, and asks
whether a method predicts them better with the source than any method without one, and
than with one in its place that has its classes swapped, its labels permuted, or is
noise. Held-out rows are in no fit. Columns are standardised unless --scale says
otherwise. Columns of equal names are shared: a method that joins both files by them
takes part, as one does for objects that --paired describes in both ways. What it cannot
know: whether other target rows are like the labelled ones.

example:
  cdspp compare --source photos.csv --target sketches.csv
"""


def _compare(arguments: argparse.Namespace) -> str:
    from cdspp.analysis.compare import compare
    from cdspp.cli.forecast import expected_cost, refuse_memory
    from cdspp.cli.rows import source_of, target_labels
    from cdspp.core.whole_files import atomic
    from cdspp.methods.bridge import PAIRS, SHARED

    check_outputs(arguments, ["csv", "page"], ["source", "target", "paired"])
    if arguments.page:  # said before the fits, not after
        need_package("jinja2", "--page")
    target, source = filter(None, read_both(arguments))
    bridge, shared = bridge_of(arguments, target, source, (SHARED, PAIRS))
    for method in arguments.method:
        cost = expected_cost(method, target, source)
        refuse_memory(method, cost, "leave this one out")
    found = compare(
        target.X,
        target_labels(target),
        source=replace(source_of(source), **bridge),
        methods=arguments.method or None,
        repeats=arguments.repeats,
        scale=arguments.scale,
        seed=arguments.seed,
        progress=logging.getLogger(__name__).info,
    )
    found = replace(found, next_step=_next_step(arguments, found))
    if arguments.csv:
        with atomic(arguments.csv) as temporary:
            found.gains.to_csv(temporary, index=False)
    read = [
        replace(rows, scaling=_SCALED[arguments.scale]) for rows in (target, source)
    ]
    head = [*tell(*read), *shared, *filter(None, [found.note])]
    text = [*head, "", *_table(found), "", found.sentence]
    if arguments.page:
        from cdspp.report.page.comparison import write_comparison

        write_comparison(found, head, arguments.page)
        text.append(f"Page: {arguments.page}")
    return "\n".join(text)


def _next_step(arguments: argparse.Namespace, found: Comparison) -> str:
    """Return the command that fits what is recommended, on the same files."""
    from cdspp.analysis.decision import USE

    words = ["cdspp", "fit", "--method", found.method, "--scale", arguments.scale]
    ending = ["--output", "predictions.csv"]
    if not found.method:  # nothing to fit before the features are scaled
        words, ending = ["cdspp", "compare", "--scale", STANDARDISE], []
    if found.decision == USE or not found.method:
        words += ["--source", arguments.source]
    words += ["--target", arguments.target]
    for option in ("label", "id"):
        if name := getattr(arguments, option):
            words += [f"--{option}", name]
    for name in arguments.drop:
        words += ["--drop", name]
    for name in arguments.keep_label:
        words += ["--keep-label", name]
    words += ["--impute"] * arguments.impute
    if arguments.shared:
        words += ["--shared", arguments.shared]
    if arguments.paired and found.decision == USE:
        words += ["--paired", *arguments.paired]
    return f"`{shlex.join(words + ending)}`"


def _table(found: Comparison) -> list[str]:
    """Return a line a method: accuracy, gains over every state, and the verdict."""
    from cdspp.core.wording import aligned
    from cdspp.report.tables.comparison import comparison_table

    table = comparison_table(found)
    grid = [list(table.columns)]
    grid += [[cell.text for cell in line.cells] for line in table.lines]
    return aligned(grid)


def add_compare(commands: Any) -> None:
    """Add ``cdspp compare`` to the commands."""
    text = "say whether a source is worth using for a target with few labels"
    compare = add_command(commands, "compare", _compare, text, COMPARE_HELP)
    compare.add_argument("--source", required=True, metavar="FILE", help="source rows")
    compare.add_argument(
        "--target", required=True, metavar="FILE", help="target rows, some labelled"
    )
    compare.add_argument(
        "--method",
        action="append",
        default=[],
        help="a method to compare, see `cdspp methods`; may be repeated",
    )
    compare.add_argument(
        "--repeats",
        type=positive_integer,
        default=15,
        metavar="N",
        help="how often rows are held out (%(default)s)",
    )
    compare.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of all draws (%(default)s)"
    )
    add_bridge(compare)
    add_reading(compare)
    add_scale(compare, STANDARDISE)
    add_force(compare)
    compare.add_argument("--page", metavar="FILE", help="also write it as a web page")
    compare.add_argument(
        "--csv", metavar="FILE", help="also write the gains with their intervals"
    )
