"""The measurements from the shell: `python -m benchmarks MEASUREMENT`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import measure, verdicts
from benchmarks.calibration import draw_calibration
from benchmarks.decision_cost import bench_cost
from benchmarks.decision_families import FAMILIES, LABELS
from benchmarks.decision_tables import cost_table, decisions_table, rows_table
from benchmarks.decisions import DRAWS, bench_decisions, outcomes
from benchmarks.geometry import bench_geometry, geometry_table
from benchmarks.methods import bench_methods, methods_table
from benchmarks.results import write_numbers
from benchmarks.rows import SUBSET, bench_rows
from benchmarks.tables import bench_tables, tables_table
from cdspp.cli.command import AS_WRITTEN, Run, positive_integer
from cdspp.cli.main import run_command
from cdspp.core.files import write_json
from cdspp.core.outputs import atomic

__all__ = ["main"]

FIRST, SET_ASIDE, BOTH = "first", "set-aside", "both"
PART_TITLES = {False: "Families", True: "Families set aside"}

progress = logging.getLogger("benchmarks").info


def _help(name: str) -> str:
    return Path(__file__).with_name("help").joinpath(f"{name}.txt").read_text("utf-8")


def _sizes(name: str) -> list[measure.Size]:
    sizes = measure.SIZES
    return [sizes[key] for key in (sizes if name == "all" else [name])]


def _save_numbers(arguments: argparse.Namespace, results: Any, table: str) -> str:
    """Return the table; the numbers go to the file that the arguments name."""
    if arguments.json:
        write_json(arguments.json, results)
    return table


def _methods(arguments: argparse.Namespace) -> str:
    results = bench_methods(
        _sizes(arguments.size),
        methods=arguments.method,
        limit=arguments.limit,
        before=arguments.before,
        repeat=arguments.repeat,
        progress=progress,
    )
    return _save_numbers(arguments, results, methods_table(results))


def _verdicts(arguments: argparse.Namespace) -> str:
    if arguments.study:
        ratios = verdicts.standard_error_ratios(arguments.study)
        return _save_numbers(arguments, ratios, verdicts.ratios_table(ratios))
    results = verdicts.bench_verdicts(
        arguments.parts,
        draws=arguments.draws,
        populations=arguments.populations,
        pools=arguments.pools,
        workers=arguments.workers,
        progress=progress,
    )
    return _save_numbers(arguments, results, verdicts.verdicts_table(results))


def _geometry(arguments: argparse.Namespace) -> str:
    gains = bench_geometry(
        draws=arguments.draws, workers=arguments.workers, progress=progress
    )
    path = Path(arguments.output, "shared-geometry.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as temporary:
        gains.to_csv(temporary, index=False)
    return geometry_table(gains)


def _decisions(arguments: argparse.Namespace) -> str:
    if arguments.cost:
        costs = bench_cost(progress=progress)
        return _save_numbers(arguments, costs, cost_table(costs))
    parts, records = _parts(arguments), Path(arguments.records)
    families = [name for names in parts.values() for name in names]
    missing = bench_decisions(
        [] if arguments.stored else families,
        labels=arguments.labels,
        draws=arguments.draws,
        records=records,
        workers=arguments.workers,
        progress=progress,
    )
    results = {title: outcomes(records, names) for title, names in parts.items()}
    if arguments.figure:
        draw_calibration(results, arguments.figure)
    _save_frames(arguments, results)
    return decisions_table(results, missing)


def _rows(arguments: argparse.Namespace) -> str:
    results = {
        title: bench_rows(names, Path(arguments.records), progress=progress)
        for title, names in _parts(arguments).items()
    }
    _save_frames(arguments, results)
    return rows_table(results)


def _parts(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Return the families that the arguments name, by title of their part."""
    aside = {FIRST: [False], SET_ASIDE: [True], BOTH: [False, True]}[arguments.part]
    return {
        PART_TITLES[set_aside]: [
            name
            for name in arguments.families or FAMILIES
            if FAMILIES[name].set_aside == set_aside
        ]
        for set_aside in aside
    }


def _save_frames(
    arguments: argparse.Namespace, results: Mapping[str, pd.DataFrame]
) -> None:
    numbers = {title: part.to_dict("records") for title, part in results.items()}
    _save_numbers(arguments, numbers, "")


def _tables(arguments: argparse.Namespace) -> str:
    return tables_table(bench_tables())


def _results(arguments: argparse.Namespace) -> str:
    paths = [write_numbers(folder, arguments.output) for folder in arguments.study]
    return "".join(f"wrote {path}\n" for path in paths)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure speed, memory, and verdicts."
    )
    commands = parser.add_subparsers(metavar="MEASUREMENT", required=True)
    for add in (_add_methods, _add_verdicts, _add_decisions, _add_rows):
        command = add(commands)
        command.add_argument(
            "--json", metavar="FILE", help="also write all numbers as JSON"
        )
    _add_geometry(commands)
    _add_results(commands)
    text = "readers of tables on untidy files"
    add_command(commands, "tables", _tables, text, _help("tables"))
    return parser


def add_command(
    what: Any, name: str, run: Run, text: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a command with the text of its help."""
    shown = {"description": text, "epilog": epilog, "formatter_class": AS_WRITTEN}
    command: argparse.ArgumentParser = what.add_parser(name, help=text, **shown)
    command.set_defaults(run=run, extra="")
    return command


def _add_methods(commands: Any) -> argparse.ArgumentParser:
    text = "one fit of every method, as ratios to CDSPP"
    methods = add_command(commands, "methods", _methods, text, _help("methods"))
    methods.add_argument("method", nargs="*", metavar="METHOD", help="all by default")
    methods.add_argument(
        "--size",
        choices=[*measure.SIZES, "all"],
        default="all",
        help="size of the problem (default: %(default)s)",
    )
    methods.add_argument(
        "--limit",
        type=positive_integer,
        default=600,
        metavar="SECONDS",
        help="stop a fit after this time (default: %(default)s)",
    )
    _add_number(methods, "--repeat", 1, "fits of each method; the quickest counts")
    note = "a checkout of another version, with its .venv, to compare with"
    methods.add_argument("--before", type=Path, metavar="FOLDER", help=note)
    return methods


def _add_verdicts(commands: Any) -> argparse.ArgumentParser:
    text = "error rates of the rule on source help"
    command = add_command(commands, "verdicts", _verdicts, text, _help("verdicts"))
    parts = verdicts.PARTS
    command.add_argument(
        "--parts", nargs="+", choices=parts, default=parts, help="all by default"
    )
    _add_number(command, "--draws", 400, "simulated benchmarks per line")
    _add_number(command, "--populations", 8, "planted populations per kind and size")
    _add_number(command, "--pools", 8, "pools per population, at least three")
    command.add_argument(
        "--study", metavar="FOLDER", help="only compare the standard errors of a study"
    )
    _add_number(command, "--workers", 2, "number of parallel processes")
    return command


def _add_decisions(commands: Any) -> argparse.ArgumentParser:
    text = "regret of following `compare`, and its cost"
    decisions = add_command(commands, "decisions", _decisions, text, _help("decisions"))
    _add_families(decisions, "all by default")
    decisions.add_argument(
        "--labels",
        nargs="+",
        type=int,
        choices=LABELS,
        metavar="N",
        default=LABELS,
        help=f"labels a class, of {', '.join(map(str, LABELS))}; all by default",
    )
    text = "draws of each family and number of labels"
    _add_number(decisions, "--draws", DRAWS, text)
    _add_number(decisions, "--workers", 2, "number of parallel processes")
    decisions.add_argument(
        "--stored", action="store_true", help="fit nothing: only judge stored draws"
    )
    text = "also draw the estimated accuracy against the true one, as SVG, PDF or PNG"
    decisions.add_argument("--figure", metavar="FILE", help=text)
    decisions.add_argument(
        "--cost", action="store_true", help="only measure time and memory of an answer"
    )
    return decisions


def _add_rows(commands: Any) -> argparse.ArgumentParser:
    text = "rules for the rows to label next"
    rows = add_command(commands, "rows", _rows, text, _help("rows"))
    _add_families(rows, f"by default {len(SUBSET)} that are quick to fit")
    rows.set_defaults(families=SUBSET)
    return rows


def _add_families(command: argparse.ArgumentParser, default: str) -> None:
    """Add the options on the families, and on their stored draws."""
    command.add_argument(
        "--part",
        choices=[FIRST, SET_ASIDE, BOTH],
        default=FIRST,
        help="families that a choice may depend on, those set aside for the end, "
        "or both (default: %(default)s)",
    )
    command.add_argument(
        "--families",
        nargs="+",
        choices=FAMILIES,
        metavar="NAME",
        default=[],
        help=f"of the part; {default}, of {'; '.join(FAMILIES)}",
    )
    command.add_argument(
        "--records",
        default="decisions",
        metavar="FOLDER",
        help="folder of the stored draws, which are not fitted again "
        "(default: %(default)s)",
    )


def _add_geometry(commands: Any) -> None:
    text = "gains from a source, by what it has in common with the target"
    geometry = add_command(commands, "geometry", _geometry, text, _help("geometry"))
    _add_number(geometry, "--draws", 20, "problems per point of the grid")
    _add_number(geometry, "--workers", 2, "number of parallel processes")
    _add_output(geometry)


def _add_results(commands: Any) -> None:
    text = "the numbers of finished studies behind results in the documentation"
    results = add_command(commands, "results", _results, text, _help("results"))
    results.add_argument("study", nargs="+", metavar="FOLDER", help="results/<study>")
    _add_output(results, "docs/results")


def _add_output(command: argparse.ArgumentParser, default: str = ".") -> None:
    command.add_argument(
        "--output",
        metavar="FOLDER",
        default=default,
        help="folder for the output files (default: %(default)s)",
    )


def _add_number(
    command: argparse.ArgumentParser, name: str, default: int, meaning: str
) -> None:
    command.add_argument(
        name,
        type=positive_integer,
        default=default,
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code, see `cdspp.cli.main.run_command`."""
    return run_command(_parser(), argv)


if __name__ == "__main__":
    sys.exit(main())
