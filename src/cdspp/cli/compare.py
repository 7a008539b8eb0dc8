"""The command `cdspp compare`: the vote to deploy, from two files."""

from __future__ import annotations

import logging
import shlex
import textwrap
import warnings
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.core.errors import ClassWarning, UnitWarning
from cdspp.core.files import write_json
from cdspp.core.names import PCA
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
# Options of the vote itself.
VOTE_OPTIONS = ("scale", "repeats", "seed", "labelled")
ROWS_FILE = "rows-to-label.csv"
WIDTH = 100  # of the answer


def _compare(arguments: Namespace) -> str:
    from cdspp.analysis.summary import MOST_COLLAPSED

    arguments.rows_to_label = arguments.rows_to_label or _next_file(arguments)
    page, path = arguments.page, arguments.rows_to_label
    outputs = [arguments.csv, page, arguments.json, path]
    inputs = [arguments.source, arguments.target, *arguments.labelled]
    inputs += arguments.paired or []
    command.check_outputs(outputs, inputs, force=arguments.force)
    if page:  # fail before the fits, which take long
        command.need_package("jinja2", "--page")
    result, target, head = compare_files(arguments)
    result = replace(result, next_steps=tuple(_next_steps(arguments, result)))
    notes = [line for line in head if line.startswith(("note: ", "suggestion: "))]
    text = [*(line for line in head if line not in notes), "", *_answer(result, path)]
    notes += result.remarks
    with together(outputs, replace=arguments.force):
        notes += _write_files(arguments, result, target, head)
    text += ["", *notes] if notes else []
    shares = result.candidates.set_index("display_name")["degenerate"]
    names = arguments.strict and ", ".join(shares.index[shares > MOST_COLLAPSED])
    if names:
        text.append(f"--strict: degenerate, diverged or failed fits of {names}")
    return command.exit_if_failed("\n".join(text), failed=names)


def _answer(result: Comparison, path: str | None) -> Iterator[str]:
    """Yield the answer, the candidates, and the next steps with their commands."""
    *answer, improve = result.lines
    if not result.n_unlabelled:
        answer.append(improve)
    elif path:
        improve = f"To improve it, fill in the column label of {path}, then."
    yield from (textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in answer)
    yield from ("", *aligned(result.grid(), left=(0, 1)), "")
    leads = "To deploy it:", f"{improve[:-1]}:"
    for lead, step in zip(leads, result.next_steps, strict=False):
        yield from (lead, f"  {step}")


def _next_file(arguments: Namespace) -> str | None:
    """Return the file of the next round, by number, after that of the last."""
    if not arguments.labelled:
        return None
    last = Path(arguments.labelled[-1])
    stem, dash, number = last.stem.rpartition("-")
    if not (dash and number.isdecimal()):
        stem, number = last.stem, "1"
    return str(last.with_name(f"{stem}-{int(number) + 1}{last.suffix}"))


def compare_files(
    arguments: Namespace, *, fits_all_rows: bool = False
) -> tuple[Comparison, DomainRows, list[str]]:
    """Return the result for two files, the target, and lines that describe both.

    With `fits_all_rows`, all candidates must fit into memory with all rows.
    """
    from cdspp.analysis.compare import compare
    from cdspp.analysis.pool import default_candidates
    from cdspp.cli import rows
    from cdspp.methods.base import SourceDomain

    target, source, bridge, notes = rows.read_domains(
        arguments, BRIDGES, needs_labels=False
    )
    for method in arguments.method:
        rows.expected_cost(method, target, source, remedy="leave this one out")
    for method in default_candidates(bridge, 1, 1) if fits_all_rows else ():
        rows.expected_cost(method, target, source, remedy="try it with --anyway")
    domain = None
    if source is not None:
        domain = SourceDomain(source.X, list(source.labels), **bridge)
    with warnings.catch_warnings():
        for category in (ClassWarning, UnitWarning):  # notes name classes and columns
            warnings.simplefilter("ignore", category)
        result = compare(
            target.X,
            target.labels,
            source=domain,
            methods=arguments.method or None,
            labelled=rows.read_rows_to_label(arguments.labelled, target),
            repeats=arguments.repeats,
            scale=arguments.scale,
            seed=arguments.seed,
            progress=logging.getLogger(__name__).info,
        )
    return result, target, [*_descriptions(target, source, arguments.scale), *notes]


def _descriptions(
    target: DomainRows, source: DomainRows | None, scale: str
) -> Iterator[str]:
    """Yield a line on each file; each fit has its own numbers of the scaling."""
    from cdspp.core.scaling import Scaling

    text = "PCA in each fit" if scale == PCA else str(Scaling(scale, target.X.shape[1]))
    yield replace(target, scaling=text).description(f"target {target.path}")
    if source is not None:
        yield replace(source, scaling=text).description(f"source {source.path}", target)


def _write_files(
    arguments: Namespace, result: Comparison, target: DomainRows, head: list[str]
) -> Iterator[str]:
    """Write the requested files, and yield a line on some of them."""
    if arguments.csv:
        with atomic(arguments.csv) as temporary:
            result.candidates.to_csv(temporary, index=False, lineterminator="\n")
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    if arguments.rows_to_label:
        from cdspp.cli.rows import write_rows_to_label

        table = result.rows_to_label.head(arguments.rows)
        files = arguments.rows_to_label, arguments.labelled
        write_rows_to_label(*files, table, target)
        yield f"{counted(len(table), 'row')} to label: {arguments.rows_to_label}"
    if arguments.page:
        from cdspp.report.page.page import write_comparison

        write_comparison(result, head, arguments.page)
        yield f"Page: {arguments.page}"


def _next_steps(arguments: Namespace, result: Comparison) -> Iterator[str]:
    """Yield the command that deploys the vote, and the one that may improve it."""
    options = vars(arguments)
    given = *FILE_OPTIONS, *VOTE_OPTIONS
    candidates = {**options, "candidate": arguments.method}
    words = ["cdspp", "fit", *_option_words(candidates, *given, "candidate")]
    words += ["--output", "predictions.csv"]
    # A model file never names an external class.
    external = result.candidates["method"].str.contains(":").any()
    if not arguments.vectorise and not external:
        words += ["--model", "model.npz"]
    yield shlex.join(words)
    if not result.n_unlabelled:
        return
    if arguments.rows_to_label:  # it has the labels of earlier rounds
        options = options | {"labelled": [arguments.rows_to_label]}
    words = ["cdspp", "compare", *_option_words(options, *given, "method")]
    if not arguments.rows_to_label:
        words += ["--rows-to-label", ROWS_FILE]
    yield shlex.join(words)


def _option_words(options: Mapping[str, Any], *names: str) -> Iterator[str]:
    """Yield the words of options that differ from their defaults."""
    defaults = command.command_texts()["shared"]
    for name in names:
        value = options[name.replace("-", "_")]
        if not value or value == defaults.get(f"--{name}", {}).get("default"):
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
