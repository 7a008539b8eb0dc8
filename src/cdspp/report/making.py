"""The tables and figures of one job: made anew only if what they are made of changed.

The record of a job has digests of the specification and the inputs of each group of
items, and of the files. A file that was lost or edited is made again.
"""

import gc
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.code_digests import code_digest, data_digest
from cdspp.core.discovery import load_function
from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import content_digest, read_json, write_json
from cdspp.core.names import PathLike, Paths
from cdspp.core.provenance import file_digest
from cdspp.core.records import STORED, with_schema, without_schema
from cdspp.methods.descriptions import looks
from cdspp.report.registry import FIGURE, ItemGroup
from cdspp.study.plan import BenchmarkPlan, Plans

log = logging.getLogger(__name__)

Values = Mapping[str, Any]
_digest_of = cache(data_digest)


class ItemFiles(NamedTuple):
    """The files of a job: inputs by name, with digests by path, outputs and record."""

    inputs: Mapping[str, Sequence[PathLike]]
    digests: Mapping[str, str]
    outputs: Paths
    record: PathLike


def group_values(group: ItemGroup, resources: Path, style: str) -> Values:
    """Return what a group of items is made of, besides plans and inputs, for JSON."""
    function, is_figure = group.maker.function, group.kind == FIGURE
    look = [_digest_of("report/styles"), looks()] if is_figure else []
    return {
        "kind": group.kind,
        "names": [*group.captions],
        "function": function,
        "inputs": [*group.maker.inputs],
        "of_data": group.of_data,
        "resources": {n: _digest_of(resources / n) for n in group.maker.resources},
        "code": code_digest(function.partition(":")[0]),
        "style": style if is_figure else "",
        "look": content_digest([*look, _digest_of("report/captions")]),
    }


def names_to_make(record: PathLike, groups: Sequence[Values], plans: Plans) -> str:
    """Return the items that a job makes whatever its inputs, as far as is known."""
    known, origins = _read_record(record), _origins(groups, plans)
    names = [
        name
        for group, origin in zip(groups, origins, strict=True)
        if known.get(_key(group), {}).get("made_of") != origin
        for name in group["names"]
    ]
    return ", ".join(names) or "those with other inputs"


def make_items(
    groups: Sequence[Values], plans: Plans, files: ItemFiles, resources: Path
) -> None:
    """Make the tables and figures whose specification, inputs or files have changed."""
    known, made = _read_record(files.record), {}
    for group, made_of in zip(groups, _origins(groups, plans), strict=True):
        outputs = [*_outputs(group, files.outputs)]
        inputs = {name: [*files.inputs[name]] for name in group["inputs"]}
        paths = {str(path) for each in inputs.values() for path in each}
        digests = {STORED.sub("", path): files.digests[path] for path in paths}
        origin = {"made_of": made_of, "inputs": content_digest(digests)}
        old = dict(known.get(_key(group), {}))
        present = old.pop("files", {})
        if old == origin:
            outputs = [o for o in outputs if _digest(o) != present.get(_name(o), "")]
        if outputs:
            log.info(
                "making %s", ", ".join(dict.fromkeys(Path(o).stem for o in outputs))
            )
            given = {name: resources / name for name in group["resources"]}
            with _style(group["style"]):
                make = load_function(group["function"])
                gc.freeze()  # else Python searches all imports again and again
                needed = _plans(plans, group["of_data"])
                make(plans=needed, outputs=outputs, **inputs, **given)
        every = {_name(o): file_digest(o) for o in _outputs(group, files.outputs)}
        made[_key(group)] = {**origin, "files": every}
    write_json(files.record, with_schema({"groups": made}))


def _style(name: str) -> AbstractContextManager[None]:
    """Return the context of a style of figures; tables have none."""
    if not name:
        return nullcontext()
    from cdspp.report.figures.style import in_style  # not imported for tables

    return in_style(name)


def _key(group: Values) -> str:
    return f"{group['kind']} {group['names'][0]}"


def _plans(plans: Plans, of_data: bool) -> list[BenchmarkPlan]:
    return [plan.of_data() if of_data else plan for plan in plans]


def _origins(groups: Sequence[Values], plans: Plans) -> Iterator[str]:
    """Yield a digest of the specification of each group, without inputs."""
    of_plans = {
        of_data: content_digest([asdict(plan) for plan in _plans(plans, of_data)])
        for of_data in (False, True)
    }
    for group in groups:
        values = {key: value for key, value in group.items() if key != "names"}
        yield content_digest([values, of_plans[group["of_data"]]])


def _outputs(group: Values, outputs: Paths) -> Iterator[PathLike]:
    """Yield the outputs of a group: their folder has its kind, their stem a name."""
    for output in outputs:
        path = Path(output)
        if path.parent.name == f"{group['kind']}s" and path.stem in group["names"]:
            yield output


def _name(output: PathLike) -> str:
    return Path(output).name


def _digest(output: PathLike) -> str | None:
    return file_digest(output) if Path(output).is_file() else None


def _read_record(record: PathLike) -> Mapping[str, Mapping[str, Any]]:
    """Return the groups of a record; without one, all items are made."""
    with suppress(AttributeError, DataError, KeyError, SchemaError, TypeError):
        groups = without_schema(record, read_json(record))["groups"]
        return {key: {**groups[key]} for key in groups}
    return {}
