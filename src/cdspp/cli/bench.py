"""The command `cdspp bench`: speed and memory, measured on synthetic rows."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from cdspp.cli.command import add_command, positive_integer

__all__ = ["add_bench"]

BENCH_HELP = """\
Times the closed form against a dense generalised eigensolver, and the rounds of
semi-supervised CDSPP against the matrix products that no implementation can avoid.
Synthetic rows; each measurement in a process of its own with one BLAS thread. The dense
solver takes most of the time: about half a minute and 1 GB for each size and run.
"""

METHODS_HELP = """\
Fits every method once with its authors' parameters on synthetic rows, each in a
process of its own with one thread, and shows seconds and peak memory beside those of
CDSPP, what the cost model expects, and the ratios of the paper's computation times.

examples:
  cdspp bench methods --size office-caltech
  cdspp bench methods tit cdls --paper resources/paper/computation_time.csv
"""


def _bench_solver(arguments: argparse.Namespace) -> str:
    from cdspp.bench.solver import bench_solver, solver_table
    from cdspp.core.artifacts import write_json

    progress = logging.getLogger(__name__).info
    sizes = _sizes(arguments.size)
    results = bench_solver(sizes, repeat=arguments.repeat, progress=progress)
    if arguments.json:
        write_json(arguments.json, results)
    return solver_table(results)


def _sizes(name: str) -> list[Any]:
    from cdspp.bench.measure import SIZES

    return [SIZES[key] for key in (SIZES if name == "all" else [name])]


def _bench_methods(arguments: argparse.Namespace) -> str:
    from cdspp.bench.methods import bench_methods, methods_table
    from cdspp.core.artifacts import write_json

    results = bench_methods(
        _sizes(arguments.size),
        methods=arguments.method,
        limit=arguments.limit,
        progress=logging.getLogger(__name__).info,
    )
    if arguments.json:
        write_json(arguments.json, results)
    if not arguments.paper:
        return methods_table(results)
    from cdspp.analysis.times import paper_seconds

    return methods_table(results, paper_seconds(arguments.paper))


def add_bench(commands: Any) -> None:
    """Add ``cdspp bench`` to the commands."""
    bench = commands.add_parser("bench", help="measure speed and memory")
    what = bench.add_subparsers(metavar="WHAT", required=True)
    text = "closed form against a dense eigensolver"
    solver = add_command(what, "solver", _bench_solver, text, BENCH_HELP)
    solver.add_argument(
        "--repeat",
        type=positive_integer,
        default=3,
        metavar="N",
        help="runs of each measurement; the median counts (%(default)s)",
    )
    text = "one fit of every method, as ratios to CDSPP"
    methods = add_command(what, "methods", _bench_methods, text, METHODS_HELP)
    methods.add_argument("method", nargs="*", metavar="METHOD", help="all by default")
    methods.add_argument(
        "--limit",
        type=positive_integer,
        default=600,
        metavar="SECONDS",
        help="give a fit up after this time (%(default)s)",
    )
    methods.add_argument(
        "--paper",
        metavar="FILE",
        help="times to compare with, as resources/paper/computation_time.csv",
    )
    for parser in (solver, methods):
        parser.add_argument(
            "--size",
            choices=["office-caltech", "office-home", "all"],
            default="all",
            help="size of the problem (%(default)s)",
        )
        parser.add_argument(
            "--json", metavar="FILE", help="also write all numbers as JSON"
        )
