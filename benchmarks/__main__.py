"""The measurements from the shell: `python -m benchmarks MEASUREMENT`."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import measure, verdicts
from benchmarks.bridges import bench_bridges, bridges_table
from benchmarks.decision_cost import bench_cost
from benchmarks.decision_families import DRAWS, FAMILIES
from benchmarks.decision_tables import cost_table, decisions_table
from benchmarks.decisions import bench_decisions
from benchmarks.geometry import bench_geometry, geometry_table
from benchmarks.geometry_figure import draw_geometry
from benchmarks.methods import bench_methods, methods_table
from benchmarks.networks import bench_networks, networks_table
from benchmarks.order import bench_order, order_table, write_shares
from benchmarks.precision import bench_precision, precision_table
from benchmarks.results import write_numbers
from benchmarks.solver import bench_solver, solver_table
from benchmarks.tables import bench_tables, tables_table
from benchmarks.walk import bench_walk, walk_table
from cdspp.cli.command import AS_WRITTEN, Run, positive_integer
from cdspp.cli.main import run_command
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.files import atomic, write_json
from cdspp.paper.times import paper_seconds

__all__ = ["main"]

progress = logging.getLogger("benchmarks").info

ALL_COMMANDS = (
    *(["walk"], ["tables"], ["solver"], ["networks"], ["methods"]),
    ["precision", "config.yaml"],
)


def _all(arguments: argparse.Namespace) -> str:
    parser, parts = _parser(), []
    for words in ALL_COMMANDS:
        progress(f"python -m benchmarks {' '.join(words)}")
        arguments_of_words = parser.parse_args(words)
        try:
            table = arguments_of_words.run(arguments_of_words)
        except (ConfigError, DataError) as error:
            table = f"{error}\n"
        parts.append(f"$ python -m benchmarks {' '.join(words)}\n{table}")
    return "\n".join(parts)


def _help(name: str) -> str:
    return Path(__file__).with_name("help").joinpath(f"{name}.txt").read_text("utf-8")


def _solver(arguments: argparse.Namespace) -> str:
    sizes = _sizes(arguments.size)
    results = bench_solver(sizes, repeat=arguments.repeat, progress=progress)
    return _save_numbers(arguments, results, solver_table(results))


def _sizes(name: str) -> list[measure.Size]:
    sizes = measure.SIZES
    return [sizes[key] for key in (sizes if name == "all" else [name])]


def _save_numbers(arguments: argparse.Namespace, results: Any, table: str) -> str:
    """Return the table; the numbers go to the file that the arguments name."""
    if arguments.json:
        write_json(arguments.json, results)
    return table


def _methods(arguments: argparse.Namespace) -> str:
    paper = paper_seconds(arguments.paper) if arguments.paper else None
    results = bench_methods(
        _sizes(arguments.size),
        methods=arguments.method,
        limit=arguments.limit,
        before=arguments.before,
        repeat=arguments.repeat,
        progress=progress,
    )
    return _save_numbers(arguments, results, methods_table(results, paper))


def _networks(arguments: argparse.Namespace) -> str:
    results = bench_networks(_sizes(arguments.size), progress=progress)
    return _save_numbers(arguments, results, networks_table(results))


def _verdicts(arguments: argparse.Namespace) -> str:
    if arguments.study:
        ratios = verdicts.standard_error_ratios(arguments.study)
        return _save_numbers(arguments, ratios, verdicts.ratios_table(ratios))
    results = verdicts.bench_verdicts(
        arguments.parts,
        draws=arguments.draws,
        populations=arguments.populations,
        pools=arguments.pools,
        comparisons=arguments.comparisons,
        workers=arguments.workers,
        progress=progress,
    )
    return _save_numbers(arguments, results, verdicts.verdicts_table(results))


def _geometry(arguments: argparse.Namespace) -> str:
    gains = bench_geometry(
        draws=arguments.draws, workers=arguments.workers, progress=progress
    )
    draw_geometry(gains, _figure_files(arguments, "shared-geometry", gains))
    return geometry_table(gains)


def _bridges(arguments: argparse.Namespace) -> str:
    counts = bench_bridges(
        problems=arguments.problems, workers=arguments.workers, progress=progress
    )
    return bridges_table(counts)


def _decisions(arguments: argparse.Namespace) -> str:
    if arguments.cost:
        costs = bench_cost(progress=progress)
        return _save_numbers(arguments, costs, cost_table(costs))
    path = arguments.json
    earlier_records = Path(path).read_text() if path and Path(path).exists() else "[]"
    records = bench_decisions(
        arguments.families,
        draws=arguments.draws,
        coda=arguments.coda,
        workers=arguments.workers,
        earlier_records=json.loads(earlier_records),
        keep=partial(write_json, path) if path else (lambda records: None),
        progress=progress,
    )
    return decisions_table(records)


def _walk(arguments: argparse.Namespace) -> str:
    results = bench_walk(arguments.root)
    return _save_numbers(arguments, results, walk_table(results))


def _tables(arguments: argparse.Namespace) -> str:
    return tables_table(bench_tables())


def _precision(arguments: argparse.Namespace) -> str:
    return precision_table(bench_precision(arguments.study, progress))


def _order(arguments: argparse.Namespace) -> str:
    shares = bench_order(arguments.method, draws=arguments.draws, progress=progress)
    write_shares(shares, arguments.output)
    return order_table(shares)


def _results(arguments: argparse.Namespace) -> str:
    paths = [write_numbers(folder, arguments.output) for folder in arguments.study]
    return "".join(f"wrote {path}\n" for path in paths)


def _figure_files(
    arguments: argparse.Namespace, name: str, numbers: pd.DataFrame
) -> list[Path]:
    """Write the numbers of a figure as CSV; return where the figure goes."""
    stem = Path(arguments.output, name)
    stem.parent.mkdir(parents=True, exist_ok=True)
    with atomic(stem.with_suffix(".csv")) as temporary:
        numbers.to_csv(temporary, index=False)
    return [stem.with_suffix(".svg"), stem.with_suffix(".png")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure speed, memory, and verdicts."
    )
    commands = parser.add_subparsers(metavar="MEASUREMENT", required=True)
    measurements = [
        _add_solver(commands),
        _add_methods(commands),
        _add_networks(commands),
    ]
    for command in measurements:
        command.add_argument(
            "--size",
            choices=[*measure.SIZES, "all"],
            default="all",
            help="size of the problem (default: %(default)s)",
        )
    more = [_add_verdicts(commands), _add_decisions(commands), _add_walk(commands)]
    for command in (*measurements, *more):
        command.add_argument(
            "--json", metavar="FILE", help="also write all numbers as JSON"
        )
    _add_geometry(commands)
    _add_bridges(commands)
    _add_results(commands)
    _add_order(commands)
    text = "readers of tables on untidy files"
    add_command(commands, "tables", _tables, text, _help("tables"))
    text = "the tables of most measurements"
    add_command(commands, "all", _all, text, _help("all"))
    text = "labels and time of CDSPP in single precision"
    precision = add_command(commands, "precision", _precision, text, _help("precision"))
    precision.add_argument("study", nargs="+", metavar="FILE", help="study file")
    return parser


def add_command(
    what: Any, name: str, run: Run, text: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a command with the text of its help."""
    shown = {"description": text, "epilog": epilog, "formatter_class": AS_WRITTEN}
    command: argparse.ArgumentParser = what.add_parser(name, help=text, **shown)
    command.set_defaults(run=run, extra="")
    return command


def _add_solver(commands: Any) -> argparse.ArgumentParser:
    text = "closed form against a dense eigensolver"
    solver = add_command(commands, "solver", _solver, text, _help("solver"))
    _add_number(solver, "--repeat", 3, "runs of each measurement; the median counts")
    return solver


def _add_methods(commands: Any) -> argparse.ArgumentParser:
    text = "one fit of every method, as ratios to CDSPP"
    methods = add_command(commands, "methods", _methods, text, _help("methods"))
    methods.add_argument("method", nargs="*", metavar="METHOD", help="all by default")
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
    methods.add_argument(
        "--paper",
        metavar="FILE",
        help="times to compare with, as resources/paper/computation_time.csv",
    )
    return methods


def _add_networks(commands: Any) -> argparse.ArgumentParser:
    text = "a step of each network, relative to its matrix products"
    return add_command(commands, "networks", _networks, text, _help("networks"))


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
    _add_number(command, "--comparisons", 40, "comparisons by hold-out per case")
    command.add_argument(
        "--study", metavar="FOLDER", help="only compare the standard errors of a study"
    )
    _add_number(command, "--workers", 2, "number of parallel processes")
    return command


def _add_decisions(commands: Any) -> argparse.ArgumentParser:
    text = "regret of following `compare`, and its cost"
    decisions = add_command(commands, "decisions", _decisions, text, _help("decisions"))
    decisions.add_argument(
        "--families",
        nargs="+",
        choices=FAMILIES,
        metavar="NAME",
        default=[],
        help=f"all by default, of {'; '.join(FAMILIES)}",
    )
    _add_number(decisions, "--draws", DRAWS, "draws of each family")
    decisions.add_argument(
        "--coda",
        metavar="FOLDER",
        default="",
        help="a checkout of github.com/justinkay/coda, whose choice of rows takes part",
    )
    decisions.add_argument(
        "--cost", action="store_true", help="only measure time and memory of an answer"
    )
    _add_number(decisions, "--workers", 2, "number of parallel processes")
    return decisions


def _add_walk(commands: Any) -> argparse.ArgumentParser:
    text = "lines, modules and functions, in total and by command"
    walk = add_command(commands, "walk", _walk, text, _help("walk"))
    note = "the checkout to count (default: the current folder)"
    walk.add_argument("--root", type=Path, default=Path(), metavar="FOLDER", help=note)
    return walk


def _add_geometry(commands: Any) -> None:
    text = "gains from a source, by what it has in common with the target"
    geometry = add_command(commands, "geometry", _geometry, text, _help("geometry"))
    _add_number(geometry, "--draws", 20, "problems per point of the grid")
    _add_number(geometry, "--workers", 2, "number of parallel processes")
    _add_output(geometry)


def _add_bridges(commands: Any) -> None:
    text = "how often a source is recommended for the columns that it shares"
    bridges = add_command(commands, "bridges", _bridges, text, _help("bridges"))
    _add_number(bridges, "--problems", 40, "problems of each kind and size")
    _add_number(bridges, "--workers", 2, "number of parallel processes")


def _add_results(commands: Any) -> None:
    text = "the numbers of finished studies behind results in the documentation"
    results = add_command(commands, "results", _results, text, _help("results"))
    results.add_argument("study", nargs="+", metavar="FOLDER", help="results/<study>")
    _add_output(results, "docs/results")


def _add_order(commands: Any) -> None:
    text = "effect of row order and class names on labels"
    order = add_command(commands, "order", _order, text, _help("order"))
    order.add_argument("method", nargs="*", metavar="METHOD", help="all by default")
    _add_number(order, "--draws", 3, "draws of labelled rows")
    _add_output(order, "docs")


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
