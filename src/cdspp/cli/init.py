"""The command `cdspp init`: a study file for a folder or for tables of one's own."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_command, add_force, check_outputs, need_package
from cdspp.cli.reading import add_column_options
from cdspp.cli.study_files import STUDY_EXTRA, read_study
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError
from cdspp.study.workflow_files import study_command, workflow_folder

if TYPE_CHECKING:
    from cdspp.cli.found_data import FoundData

__all__ = ["add_init", "study_text"]

INIT_HELP = """\
Looks at the data, writes NAME.yaml with comments, and checks it as `cdspp plan` does.
Nothing is written where something is wrong.

examples:
  cdspp init mine --folder path/to/photos
  cdspp init plants --table lab=lab.csv --table field=field.parquet --label species
"""

# Views of source and target by what the samples are, as the template has them.
VIEWS = {
    "images": ("sift-words", "alexnet"),
    "texts": ("tfidf", "tfidf"),
    "tables": ("cells", "cells"),
}


def study_text(name: str, found: FoundData) -> str:
    """Write the study file of what was found.

    Parameters
    ----------
    name : str
        Of the study, its data set and its benchmark.
    found : FoundData
        What the study is made of.
    """
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(workflow_folder() / "resources/init"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["flow"] = _flow
    source, target, *_ = found.sizes
    source_view, target_view = VIEWS[found.kind]
    pairs = ", ".join("_".join(pair) for pair in permutations(found.sizes, 2))
    return templates.get_template("study.yaml.j2").render(
        name=name,
        kind=found.kind,
        entry=found.entry,
        source=source,
        source_view=source_view,
        target_view=target_view,
        task=f"{source}_{target}",
        pairs=textwrap.indent(
            textwrap.fill(pairs, 82, break_long_words=False, break_on_hyphens=False),
            "    # ",
        ),
        labels=found.labels(),
    )


def _flow(value: object) -> str:
    """Write a value in one line of YAML, in quotes where it needs them."""
    import yaml

    written: str = yaml.safe_dump(
        [value],
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
    )
    return written.strip()[1:-1]


def _init(arguments: argparse.Namespace) -> str:
    from cdspp.cli.found_data import NEEDED, as_name
    from cdspp.core.whole_files import atomic

    need_package("jinja2", "cdspp init", STUDY_EXTRA)
    name, path = arguments.name, Path(f"{arguments.name}.yaml")
    if not name or as_name(name) != name:
        raise ConfigError(f"cdspp init: {NEEDED} as the study's name, got {name!r}.")
    check_outputs(arguments, [path], [Path(file) for _, file in arguments.table or ()])
    found = _directed(_look(arguments), arguments.source, arguments.target)
    source, target, *_ = found.sizes
    with atomic(path) as temporary:
        temporary.write_text(study_text(name, found), encoding="utf-8")
        try:
            read_study([temporary])
        except ConfigError as error:
            raise ConfigError(f"{path} is not written: {error}") from error
    return "\n".join(
        [
            str(found),
            f"Source: {source}, target: {target}. Others: --source, --target",
            f"Written: {path}. What it costs: cdspp plan {path}",
            f"Next: {study_command([path])}",
        ]
    )


def _look(arguments: argparse.Namespace) -> FoundData:
    from cdspp.cli.found_data import look_at_folder, look_at_tables
    from cdspp.datasets.table_files import Columns

    names = (arguments.label, arguments.id, tuple(arguments.drop))
    if any(names) and not arguments.table:
        raise ConfigError(
            "cdspp init: --label, --id and --drop name columns of tables; leave them "
            "out with --folder."
        )
    if arguments.table:
        columns = Columns(*names, required=("label",))
        found = look_at_tables(arguments.name, arguments.table, columns)
    else:
        found = look_at_folder(arguments.name, arguments.folder)
    kept = {"keep_labels": arguments.keep_label} if arguments.keep_label else {}
    return replace(found, entry={**found.entry, **kept})


def _directed(found: FoundData, source: str | None, target: str | None) -> FoundData:
    """Put the domains in order: source, target, others."""
    for option, name in (("source", source), ("target", target)):
        if name is not None and name not in found.sizes:
            message = f"cdspp init: --{option} must be one of {', '.join(found.sizes)}"
            raise ConfigError(
                f"{message}, got {name!r}{did_you_mean(name, found.sizes)}"
            )
    if source is not None and source == target:
        raise ConfigError(f"cdspp init: source and target are both {source}.")
    first = [name for name in found.sizes if name != target]
    source = source or first[0]
    target = target or next(name for name in first if name != source)
    order = dict.fromkeys([source, target, *found.sizes])
    return replace(found, sizes={name: found.sizes[name] for name in order})


def _table(text: str) -> tuple[str, str]:
    domain, _, path = text.partition("=")
    if not domain or not path:
        raise argparse.ArgumentTypeError(f"expected DOMAIN=FILE, got {text!r}")
    return domain, path


def add_init(commands: Any) -> None:
    """Add ``cdspp init`` to the commands."""
    text = "write a study file for data of one's own"
    init = add_command(commands, "init", _init, text, INIT_HELP, STUDY_EXTRA)
    init.add_argument("name", metavar="NAME", help="of the study: NAME.yaml is written")
    what = init.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--folder", metavar="PATH", help="images or texts: PATH/<domain>/<class>/<file>"
    )
    what.add_argument(
        "--table",
        action="append",
        type=_table,
        metavar="DOMAIN=FILE",
        help="rows of a domain; once for each, the source first, then the target",
    )
    init.add_argument("--source", metavar="DOMAIN", help="the source (the first one)")
    init.add_argument("--target", metavar="DOMAIN", help="the target (the next one)")
    add_column_options(init, "COLUMN")
    add_force(init)
