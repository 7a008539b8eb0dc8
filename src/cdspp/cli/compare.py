"""The command `cdspp compare`: which method to deploy, from two files of the user."""

from __future__ import annotations

import argparse
import logging
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.core.errors import UnitWarning
from cdspp.core.files import atomic, write_json
from cdspp.core.names import PCA, STANDARDISE
from cdspp.core.wording import aligned, counted

if TYPE_CHECKING:
    from cdspp.analysis.comparison import Comparison
    from cdspp.datasets.table_rows import DomainRows

BRIDGES = ("shared_columns", "paired_rows")
# Options on columns, which hold for the next command, too.
NAMES = ("label", "id", "source-label", "source-id", "target-label", "target-id")
ENCODINGS = ("categories", "dates", "date-format", "decimal", "encoding", "vectorise")
COLUMNS = NAMES + ENCODINGS
ROWS_FILE = "rows-to-label.csv"

COMPARE_HELP = """\
Bets on the method to deploy: one that uses the source, or target-only. Candidates are
CDSPP, methods that use columns of equal names or paired objects, and those named by
--method. Each is fitted on four fifths of the labelled target rows of each class and
labels the others, 10 to 15 times; a prior by the kind of information that a method uses
joins these counts. No fit sees held-out rows. Standardises columns unless --scale says
otherwise. The command cannot know whether other target rows resemble the labelled ones.

To settle the bet, write rows on which it and target-only disagree, fill labels in from
the top, and run the test:
  cdspp compare --source photos.csv --target sketches.csv --rows-to-label rows.csv
  cdspp compare --source photos.csv --target sketches.csv --labelled rows.csv

--why adds tests of every method against every method without a source, and against
itself with a corrupted source: swapped classes, permuted labels, or noise.
"""


def _compare(arguments: argparse.Namespace) -> str:
    outputs = ["csv", "page", "json", "rows_to_label"]
    inputs = ["source", "target", "paired", "labelled"]
    command.check_outputs(arguments, outputs, inputs)
    if arguments.page:  # said before the fits, not after
        command.need_package("jinja2", "--page")
    return _answer(arguments, *compare_files(arguments))


def compare_files(
    arguments: argparse.Namespace,
) -> tuple[Comparison, DomainRows, list[str]]:
    """Return the answer for two files, the target, and lines that describe both."""
    from cdspp.analysis.compare import compare
    from cdspp.cli import rows
    from cdspp.cli.rows_to_label import mark_tested, read_rows
    from cdspp.core.scaling import Scaling

    target, source, bridge, notes = rows.read_both(arguments, BRIDGES)
    assert source is not None
    for method in arguments.method:
        cost = rows.expected_cost(method, target, source)
        rows.refuse_memory(method, cost, "leave this one out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnitWarning)  # notes name the columns
        found = compare(
            target.X,
            target.labels,
            source=replace(rows.source_of(source), **bridge),
            methods=arguments.method or None,
            labelled=read_rows(arguments.labelled, target),
            why=arguments.why,
            repeats=arguments.repeats,
            scale=arguments.scale,
            seed=arguments.seed,
            progress=logging.getLogger(__name__).info,
        )
    if found.test is not None:
        mark_tested(arguments.labelled[-1], found.test)
    found = replace(found, next_steps=tuple(_next_steps(arguments, found, target)))
    # Each fit learns its own scaling, so that the line has no numbers of it.
    kind = arguments.scale
    said = "PCA in each fit" if kind == PCA else str(Scaling(kind, target.X.shape[1]))
    read = replace(target, scaling=said), replace(source, scaling=said)
    return found, target, [*rows.descriptions(*read), *notes]


def _answer(
    arguments: argparse.Namespace,
    found: Comparison,
    target: DomainRows,
    head: list[str],
) -> str:
    """Return the answer, its reasons below, and write the files that were asked for."""
    from cdspp.analysis.summary import MOST_COLLAPSED

    text = [*found.lines, "", *aligned(found.grid()), ""]
    settle = "To settle it, draw rows to label:"
    if path := arguments.rows_to_label:
        settle = f"To settle it, fill in the column label of {path}, then:"
    for lead, step in zip(("To deploy it:", settle), found.next_steps, strict=False):
        text += [lead, f"  {step}"]
    text += ["", *head, *found.remarks]
    if found.test is not None:
        text.append(
            f"{arguments.labelled[-1]}: the rows that the test counted are marked"
        )
    if found.explanation is not None:
        text += ["", found.explanation.finding, "", *_controls(found)]
    text += _write_files(arguments, found, target, head)
    shares = found.candidates.set_index("display_name")["degenerate"]
    useless = ", ".join(shares.index[shares > MOST_COLLAPSED])
    failed = arguments.strict and useless
    if failed:
        text.append(f"--strict: fits of {useless} have failed, collapsed or diverged")
    return command.answer("\n".join(text), failed=failed)


def _write_files(
    arguments: argparse.Namespace,
    found: Comparison,
    target: DomainRows,
    head: list[str],
) -> Iterator[str]:
    """Write what the options ask for, and yield a line on some of it."""
    if arguments.csv:
        why = found.explanation
        with atomic(arguments.csv) as temporary:
            table = found.to_frame() if why is None else why.gains
            table.to_csv(temporary, index=False)
    if arguments.json:
        write_json(arguments.json, found.to_dict())
    if arguments.rows_to_label:
        from cdspp.cli.rows_to_label import write_rows

        rows = found.rows_to_label.head(arguments.rows)
        write_rows(arguments.rows_to_label, rows, target)
        yield f"{counted(len(rows), 'row')} to label: {arguments.rows_to_label}"
    if arguments.page:
        from cdspp.report.page.comparison import write_comparison

        write_comparison(found, head, arguments.page)
        yield f"Page: {arguments.page}"


def _next_steps(
    arguments: argparse.Namespace, found: Comparison, target: DomainRows
) -> Iterator[str]:
    """Yield the command that deploys the bet, and the one that may settle it."""
    with_source = found.uses_source
    words = ["cdspp", "fit", "--method", found.best_bet, "--scale", arguments.scale]
    words += _file_words(arguments, target, with_source)
    words += _labelled_words(arguments)
    words += ["--output", "predictions.csv"]
    if not arguments.vectorise:
        words += ["--model", "model.npz"]
    yield shlex.join(words)
    if not found.can_be_settled:
        return
    words = ["cdspp", "compare", *_file_words(arguments, target, True)]
    if arguments.scale != STANDARDISE:
        words += ["--scale", arguments.scale]
    for method in arguments.method:
        words += ["--method", method]
    for name, usual in (("repeats", 15), ("seed", 0)):
        value = getattr(arguments, name)
        if value != usual:
            words += [f"--{name}", str(value)]
    words += _labelled_words(arguments)
    if arguments.rows_to_label:
        yield shlex.join([*words, "--labelled", arguments.rows_to_label])
    else:
        yield shlex.join([*words, "--rows-to-label", ROWS_FILE])


def _labelled_words(arguments: argparse.Namespace) -> list[str]:
    return [word for path in arguments.labelled for word in ("--labelled", path)]


def _file_words(
    arguments: argparse.Namespace, target: DomainRows, with_source: bool
) -> list[str]:
    """Return the options on the files, without a source those of the target only."""
    words = ["--source", arguments.source] if with_source else []
    words += ["--target", arguments.target]
    for option in COLUMNS:
        value = getattr(arguments, option.replace("-", "_"))
        if value and (with_source or not option.startswith("source-")):
            words += [f"--{option}", value]
    for name in arguments.drop:
        if with_source or name in target.dropped:  # others would be errors
            words += ["--drop", name]
    for name in arguments.keep_label:
        words += ["--keep-label", name]
    if arguments.impute:
        words.append("--impute")
    if arguments.shared and with_source:
        words += ["--shared", arguments.shared]
    if arguments.paired and with_source:
        words += ["--paired", *arguments.paired]
    return words


def _controls(found: Comparison) -> list[str]:
    """Return a line a method: accuracy, verdict, and gains over every control."""
    from cdspp.report.tables.source_help import comparison_table

    assert found.explanation is not None
    table = comparison_table(found.explanation, found.accuracies)
    grid = [list(table.columns)]
    grid += [[cell.text for cell in line.cells] for line in table.lines]
    return aligned(grid)


def add_compare(commands: Any) -> None:
    """Add ``cdspp compare`` to the commands."""
    text = "bet on the method to deploy for a target with few labels and a source"
    compare = command.add_command(commands, "compare", _compare, text, COMPARE_HELP)
    add = compare.add_argument
    add("--source", required=True, metavar="FILE", help="labelled source rows")
    add("--target", required=True, metavar="FILE", help="target rows, some labelled")
    note = "a further candidate, see `cdspp methods`; may be repeated"
    add("--method", action="append", default=[], help=note)
    note = "write rows to label, on which the bet and target-only disagree"
    add("--rows-to-label", metavar="FILE", help=note)
    note = "number of rows to label (%(default)s)"
    add("--rows", type=command.positive_integer, default=20, metavar="N", help=note)
    command.add_labelled(compare, "test the bet by rows that you labelled, once; ")
    note = "test every method against every control; takes ten times as long"
    add("--why", action="store_true", help=note)
    note = "most hold-outs (%(default)s)"
    add("--repeats", type=command.positive_integer, default=15, metavar="N", help=note)
    note = "seed of all draws (%(default)s)"
    add("--seed", type=int, default=0, metavar="N", help=note)
    command.add_joining(compare, STANDARDISE)
    command.add_force(compare)
    command.add_strict(compare, "fits fail, collapse or diverge")
    add("--page", metavar="FILE", help="also write the answer as a web page")
    add("--json", metavar="FILE", help="also write the answer as JSON")
    note = "also write the candidates, or with --why all gains, as a table"
    add("--csv", metavar="FILE", help=note)
