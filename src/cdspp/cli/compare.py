"""The command `cdspp compare`: the best method to deploy, from two files."""

from __future__ import annotations

import logging
import shlex
import textwrap
import warnings
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.core.errors import ClassWarning, UnitWarning
from cdspp.core.files import write_csv, write_json
from cdspp.core.names import PCA, STANDARDISE
from cdspp.core.outputs import atomic, together
from cdspp.core.wording import aligned, counted

if TYPE_CHECKING:
    from cdspp.analysis.comparison import Comparison
    from cdspp.datasets.table_rows import DomainRows

BRIDGES = ("shared_columns", "paired_rows")
OF_LABELS = ("keep-label", "unlabelled")
# Options for the files, which also apply to the next command.
FILE_OPTIONS = (
    *("source", "target", "label", "id"),
    *("source-label", "source-id", "target-label", "target-id"),
    *("categories", "dates", "date-format", "decimal", "encoding", "vectorise"),
    *("drop", *OF_LABELS, "map-labels", "impute", "shared", "paired"),
)
OF_SOURCE = ("source", "source-label", "source-id", "shared", "paired")
DEFAULTS = {"scale": STANDARDISE, "repeats": 15, "seed": 0}
ROWS_FILE = "rows-to-label.csv"


def _compare(arguments: Namespace) -> str:
    from cdspp.analysis.summary import MOST_COLLAPSED

    page, path = arguments.page, arguments.rows_to_label
    outputs = [arguments.csv, page, arguments.json, path]
    inputs = [arguments.source, arguments.target, *arguments.labelled]
    inputs += arguments.paired or []
    command.check_outputs(outputs, inputs, force=arguments.force)
    if page:  # fail before the fits, which take long
        command.need_package("jinja2", "--page")
    result, target, head = compare_files(arguments)
    lines = [textwrap.fill(line, 88, subsequent_indent="  ") for line in result.lines]
    text = [*lines, "", *aligned(result.grid()), ""]
    settle = "To settle it, draw rows to label:"
    if path:
        settle = f"To settle it, fill in the column label of {path}, then:"
    for lead, step in zip(("To deploy it:", settle), result.next_steps, strict=False):
        text += [lead, f"  {step}"]
    text += ["", *head, *result.remarks]
    if result.test is not None and result.test.n_rows:
        marked = "rows that the test counted are now marked"
        text.append(f"{arguments.labelled[-1]}: {marked}")
    with together(outputs, replace=arguments.force):
        text += _write_files(arguments, result, target, head)
    shares = result.candidates.set_index("display_name")["degenerate"]
    names = arguments.strict and ", ".join(shares.index[shares > MOST_COLLAPSED])
    if names:
        text.append(f"--strict: fits of {names} have failed, collapsed or diverged")
    return command.exit_if_failed("\n".join(text), failed=names)


def compare_files(arguments: Namespace) -> tuple[Comparison, DomainRows, list[str]]:
    """Return the result for two files, the target, and lines that describe both."""
    from cdspp.analysis.compare import compare
    from cdspp.cli import rows
    from cdspp.core.scaling import Scaling
    from cdspp.methods.base import SourceDomain

    target, source, bridge, notes = rows.read_domains(arguments, BRIDGES)
    assert source is not None
    for method in arguments.method:
        rows.expected_cost(method, target, source, remedy="leave this one out")
    with warnings.catch_warnings():
        for category in (ClassWarning, UnitWarning):  # notes name classes and columns
            warnings.simplefilter("ignore", category)
        result = compare(
            target.X,
            target.labels,
            source=SourceDomain(source.X, list(source.labels), **bridge),
            methods=arguments.method or None,
            labelled=rows.read_rows_to_label(arguments.labelled, target),
            repeats=arguments.repeats,
            scale=arguments.scale,
            seed=arguments.seed,
            progress=logging.getLogger(__name__).info,
        )
    if result.test is not None:
        rows.mark_tested(arguments.labelled[-1], result.test.n_rows)
    result = replace(result, next_steps=tuple(_next_steps(arguments, result, target)))
    # Each fit learns its own scaling, so the line gives no numbers.
    kind = arguments.scale
    text = "PCA in each fit" if kind == PCA else str(Scaling(kind, target.X.shape[1]))
    head = [replace(target, scaling=text).description("target")]
    head.append(replace(source, scaling=text).description("source", target))
    return result, target, [*head, *notes]


def _write_files(
    arguments: Namespace, result: Comparison, target: DomainRows, head: list[str]
) -> Iterator[str]:
    """Write the requested files, and yield a line on some of them."""
    if arguments.csv:
        with atomic(arguments.csv) as temporary:
            result.to_frame().to_csv(temporary, index=False, lineterminator="\n")
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    if arguments.rows_to_label:
        rows = result.rows_to_label.head(arguments.rows)
        ids = [target.ids[row] for row in rows["row"]]
        rows = rows.rename(columns={"row": "id"}).assign(id=ids)
        write_csv(arguments.rows_to_label, rows)
        yield f"{counted(len(rows), 'row')} to label: {arguments.rows_to_label}"
    if arguments.page:
        from cdspp.report.page.page import write_comparison

        write_comparison(result, head, arguments.page)
        yield f"Page: {arguments.page}"


def _next_steps(
    arguments: Namespace, result: Comparison, target: DomainRows
) -> Iterator[str]:
    """Yield the command that deploys the bet, and the one that may settle it."""
    names, options = list(FILE_OPTIONS), {**vars(arguments)}
    if not result.uses_source:
        names = [name for name in names if name not in OF_SOURCE]
        # Only matching columns and labels: the next command refuses others.
        known: dict[str, Collection[str]] = {"drop": target.dropped}
        known |= {name: target.label_column.seen for name in OF_LABELS}
        for name, found in known.items():
            key = name.replace("-", "_")
            options[key] = [word for word in options[key] if word in found]
    words = ["cdspp", "fit", "--method", result.best_bet, "--scale", arguments.scale]
    words += _option_words(options, *names, "labelled")
    words += ["--output", "predictions.csv"]
    # A model file never names an external class.
    if not arguments.vectorise and ":" not in result.best_bet:
        words += ["--model", "model.npz"]
    yield shlex.join(words)
    if not result.can_be_settled:
        return
    names = [*FILE_OPTIONS, "scale", "method", "repeats", "seed", "labelled"]
    words = ["cdspp", "compare", *_option_words(vars(arguments), *names)]
    if arguments.rows_to_label:
        yield shlex.join([*words, "--labelled", arguments.rows_to_label])
    else:
        yield shlex.join([*words, "--rows-to-label", ROWS_FILE])


def _option_words(options: Mapping[str, Any], *names: str) -> Iterator[str]:
    """Yield the words of options that differ from their defaults."""
    for name in names:
        value = options[name.replace("-", "_")]
        if not value or value == DEFAULTS.get(name):
            continue
        if value is True:
            yield f"--{name}"
        elif name == "paired":
            yield from (f"--{name}", *value)
        else:
            for item in value if isinstance(value, list) else [value]:
                yield from (f"--{name}", str(item))


def add_commands(commands: Any) -> None:
    """Add ``cdspp compare``."""
    command.add_command(commands, "compare", _compare)
