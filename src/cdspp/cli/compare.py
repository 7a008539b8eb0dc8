"""The command `cdspp compare`: whether a source helps, from two files of the user."""

from __future__ import annotations

import argparse
import logging
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.core.errors import UnitWarning
from cdspp.core.names import PCA, STANDARDISE
from cdspp.core.whole_files import atomic

if TYPE_CHECKING:
    from cdspp.analysis.decision import Comparison

__all__ = ["add_compare"]

BRIDGES = ("shared_columns", "paired_rows")
# Options on columns, which hold for the next command, too.
COLUMNS = (
    *("label", "id", "source-label", "source-id", "target-label", "target-id"),
    *("categories", "dates", "date-format", "decimal", "encoding", "vectorise"),
)

COMPARE_HELP = """\
Repeatedly holds out a fifth of the labelled target rows of each class. Tests whether a
method with the source predicts them better than every method without a source, and
better than itself with a spoilt source: swapped classes, permuted labels, or noise. No
fit sees held-out rows. Standardises columns unless --scale says otherwise. Methods that
use columns of equal names take part, and with --paired those that use paired objects.
The command cannot know whether other target rows resemble the labelled ones.

example:
  cdspp compare --source photos.csv --target sketches.csv
"""


def _compare(arguments: argparse.Namespace) -> str:
    from cdspp.analysis.compare import compare
    from cdspp.cli import rows
    from cdspp.core.scaling import Scaling

    command.check_outputs(arguments, ["csv", "page"], ["source", "target", "paired"])
    if arguments.page:  # said before the fits, not after
        command.need_package("jinja2", "--page")
    target, source, bridge, notes = rows.read_both(arguments, BRIDGES)
    warnings.simplefilter("ignore", UnitWarning)  # of which notes say more
    assert source is not None
    for method in arguments.method:
        cost = rows.expected_cost(method, target, source)
        rows.refuse_memory(method, cost, "leave this one out")
    found = compare(
        target.X,
        target.labels,
        source=replace(rows.source_of(source), **bridge),
        methods=arguments.method or None,
        repeats=arguments.repeats,
        scale=arguments.scale,
        seed=arguments.seed,
        progress=logging.getLogger(__name__).info,
    )
    found = replace(found, next_step=_next_step(arguments, found, target.dropped))
    # Each fit learns its own scaling, so that the line has no numbers of it.
    kind = arguments.scale
    said = "PCA in each fit" if kind == PCA else str(Scaling(kind, target.X.shape[1]))
    read = (replace(each, scaling=said) for each in (target, source))
    head = [*rows.tell(*read), *notes, *filter(None, [found.note])]
    return _answer(arguments, found, head)


def _answer(arguments: argparse.Namespace, found: Comparison, head: list[str]) -> str:
    """Write what is asked for, and return the answer below the lines on the files."""
    from cdspp.analysis.verdicts import COLLAPSED

    if arguments.csv:
        with atomic(arguments.csv) as temporary:
            found.gains.to_csv(temporary, index=False)
    text = [*head, "", *_table(found), "", found.sentence]
    if arguments.page:
        from cdspp.report.page.comparison import write_comparison

        write_comparison(found, head, arguments.page)
        text.append(f"Page: {arguments.page}")
    useless = found.verdicts["verdict"] == COLLAPSED
    if arguments.strict and useless.any():
        names = ", ".join(found.verdicts.loc[useless, "display_name"])
        text.append(f"--strict: fits of {names} have failed, collapsed or diverged")
    return command.answer("\n".join(text), failed=arguments.strict and useless.any())


def _next_step(
    arguments: argparse.Namespace, found: Comparison, dropped: Sequence[str]
) -> str:
    from cdspp.analysis.advice import scale_to_try
    from cdspp.analysis.decision import USE

    words = ["cdspp", "fit", "--method", found.method, "--scale", arguments.scale]
    ending = ["--output", "predictions.csv"]
    if not found.method:  # no fit is usable
        scale = scale_to_try(found.verdicts, arguments.scale)
        words, ending = ["cdspp", "compare", "--scale", scale], []
    if with_source := found.decision == USE or not found.method:
        words += ["--source", arguments.source]
    words += ["--target", arguments.target]
    for option in COLUMNS:
        value = getattr(arguments, option.replace("-", "_"))
        if value and (with_source or not option.startswith("source-")):
            words += [f"--{option}", value]
    for name in arguments.drop:
        if with_source or name in dropped:  # others would be errors
            words += ["--drop", name]
    for name in arguments.keep_label:
        words += ["--keep-label", name]
    words += ["--impute"] * arguments.impute
    if arguments.shared:
        words += ["--shared", arguments.shared]
    if arguments.paired and found.decision == USE:
        words += ["--paired", *arguments.paired]
    return shlex.join(words + ending)


def _table(found: Comparison) -> list[str]:
    """Return a line a method: accuracy, gains over every state, and the verdict."""
    from cdspp.core.wording import aligned
    from cdspp.report.tables.source_help import comparison_table

    table = comparison_table(found)
    grid = [list(table.columns)]
    grid += [[cell.text for cell in line.cells] for line in table.lines]
    return aligned(grid)


def add_compare(commands: Any) -> None:
    """Add ``cdspp compare`` to the commands."""
    text = "say whether a source is worth using for a target with few labels"
    compare = command.add_command(commands, "compare", _compare, text, COMPARE_HELP)
    add = compare.add_argument
    add("--source", required=True, metavar="FILE", help="labelled source rows")
    add("--target", required=True, metavar="FILE", help="target rows, some labelled")
    note = "a method to compare, see `cdspp methods`; may be repeated"
    add("--method", action="append", default=[], help=note)
    note = "number of hold-outs (%(default)s)"
    add("--repeats", type=command.positive_integer, default=15, metavar="N", help=note)
    note = "seed of all draws (%(default)s)"
    add("--seed", type=int, default=0, metavar="N", help=note)
    command.add_joining(compare, STANDARDISE)
    command.add_force(compare)
    command.add_strict(compare, "fits fail, collapse or diverge")
    add("--page", metavar="FILE", help="also write the answer as a web page")
    add("--csv", metavar="FILE", help="also write the gains with their intervals")
