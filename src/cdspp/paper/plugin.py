"""The paper's plug-in of a study: runs in variants, and sections of the page."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from cdspp.core.yaml_files import read_yaml
from cdspp.paper.protocol import read_protocol
from cdspp.report.registry import (
    DETAILS,
    TABLE,
    TIME_TABLE,
    Fold,
    Item,
    Maker,
    Part,
    never,
)
from cdspp.study.checks import run_faults
from cdspp.study.model import Benchmark, Config, Setting, Study
from cdspp.study.plan import BenchmarkPlan
from cdspp.study.plugins import ConfigNames, ReportPlugin, unknown
from cdspp.study.settings import chosen_tasks

NAME = "paper"
# Keys of a configuration that name variants, and the prefix of their settings.
VARIANTS = {"deviations": "deviation", "choices": "choice"}


@dataclass(frozen=True)
class VariantPlan:
    """A difference or choice on a benchmark: the methods and tasks that it affects."""

    identifier: str
    setting: str
    method: str
    tasks: tuple[str, ...]
    n_trials: int


@dataclass(frozen=True)
class PaperPlan:
    """Parts of the paper in a study of a benchmark; `printed` is its name there."""

    claims: bool = False
    stated: tuple[Mapping[str, Any], ...] = ()  # claims in place of the paper's
    printed: str | None = None
    deviations: tuple[VariantPlan, ...] = ()
    choices: tuple[VariantPlan, ...] = ()

    @classmethod
    def of(cls, plan: BenchmarkPlan) -> Self:
        """Return the paper's part of the plan of a benchmark."""
        fields = dict(plan.plugins.get(NAME, {}))
        for section in VARIANTS:
            entries = fields.get(section, ())
            fields[section] = tuple(VariantPlan(**entry) for entry in entries)
        return cls(**fields)


def _has(*names: str) -> Callable[[BenchmarkPlan], bool]:
    return lambda plan: any(getattr(PaperPlan.of(plan), name) for name in names)


def _maker(function: str, *inputs: str) -> Maker:
    return Maker(f"cdspp.paper.{function}", inputs or ("scores",), ("paper",))


_CLAIMS = _maker("claims:write_claims", "scores", "comparisons", "rows")
_PRINTED = _maker("printed:write_printed")
_EFFECTS = _maker("effects:write_effects")
_TIME_CLAIMS = _maker("claims:write_time_claims", "records")
_OF_TIME = "The paper's claims about time, tested by the seconds of this run."
_NUMBERS = (
    "The comparison behind each verdict, its rule, and the size of the difference."
)
_CELLS = Fold(
    "Every reported cell",
    "Each reported accuracy next to ours, task by task, or the reason for its absence.",
)
CLAIMS = Part(
    "claims",
    "Claims and verdicts",
    DETAILS,
    (
        Item(TABLE, "claims-overview", _CLAIMS, _has("claims", "stated")),
        Item(
            TABLE,
            "claims",
            _CLAIMS,
            _has("claims", "stated"),
            caption=_NUMBERS,
            shown=never,
        ),
    ),
)
PRINTED = Part(
    "printed",
    "Reported and reproduced",
    items=(
        Item(TABLE, "printed-methods", _PRINTED, _has("printed")),
        Item(TABLE, "printed-choices", _EFFECTS, _has("choices")),
        Item(TABLE, "printed", _PRINTED, _has("printed"), _CELLS),
    ),
)
DEVIATIONS = Part(
    "deviations",
    "Where paper and released code differ",
    DETAILS,
    (Item(TABLE, "deviations", _EFFECTS, _has("claims")),),
    "Differences between the text of a paper and its authors' program, and by how many "
    "points the other variant changes the accuracy.",
)
TIMES = (
    Item(TIME_TABLE, "times", _maker("times:write_times", "records")),
    Item(
        TIME_TABLE,
        "time-claims",
        _TIME_CLAIMS,
        _has("claims"),
        caption=_OF_TIME,
        shown=never,
    ),
)


class Paper(ReportPlugin):
    """The plug-in of the paper, whose numbers and variants are resources."""

    name = NAME

    def __init__(self, resources: Path) -> None:
        self.folder = resources / "paper"
        # By section and name, the deviations and choices that can be switched.
        self.variants: dict[str, dict[str, Mapping[str, Any]]] = {
            section: {
                entry["id"]: {"methods": [entry.get("method")], **entry}
                for entry in read_yaml(self.folder / f"{section}.yaml")
                if entry.get("options") or entry.get("without")
            }
            for section in VARIANTS
        }

    def faults(self, index: ConfigNames) -> Iterator[str]:
        """Yield unknown variants and reported benchmarks."""
        for section, variants in self.variants.items():
            for where, entry in index.entries(section):
                name = entry["id"]
                if name not in variants:
                    yield unknown(f"{where}.id", name, variants)
                    continue
                methods = entry.get("methods", variants[name]["methods"])
                yield from run_faults(index, where, entry, methods)
        names, seen = list(read_protocol(self.folder).benchmarks), set()
        for where, entry in index.entries("benchmarks"):
            if (name := entry.get("printed")) is None:
                continue
            if name not in names:
                yield unknown(f"{where}.printed", name, names)
            elif name in seen:
                yield f"{where}.printed: {name} is named more than once."
            seen.add(name)

    def settings(
        self, config: Config, benchmarks: Mapping[str, Benchmark]
    ) -> Iterator[Setting]:
        """Yield the settings that run methods in variants: differences and choices."""
        for section, variants in self.variants.items():
            for entry in config.get(section, []):
                variant = variants[entry["id"]]
                yield Setting(
                    identifier=f"{VARIANTS[section]}-{entry['id']}",
                    methods=tuple(entry.get("methods", variant["methods"])),
                    tasks=chosen_tasks(entry, benchmarks),
                    options=dict(sorted(variant.get("options", {}).items())),
                    trials=entry.get("trials"),
                    without=tuple(variant.get("without", ())),
                    plugin=NAME,
                )

    def plan(self, study: Study, config: Config, benchmark: str) -> dict[str, Any]:
        """Return the `PaperPlan` of a benchmark as a mapping."""
        entries = {entry["id"]: entry for entry in config.get("benchmarks", ())}
        printed = entries.get(benchmark, {}).get("printed")
        plans: dict[str, tuple[VariantPlan, ...]] = dict.fromkeys(VARIANTS, ())
        for section, opening in VARIANTS.items():
            for entry in config.get(section, ()):
                setting = f"{opening}-{entry['id']}"
                tasks = study.setting_tasks(benchmark, setting)
                methods = study.setting_methods(benchmark, setting) if tasks else ()
                for method in methods:
                    trials = study.setting_trials(setting, method)
                    plan = VariantPlan(entry["id"], setting, method, tasks, trials)
                    plans[section] += (plan,)
        paper, stated = config.get("paper", True), tuple(config.get("claims", ()))
        return asdict(PaperPlan(paper, stated, printed, **plans))

    @staticmethod
    def parts(page_parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Return the parts with claims, reported numbers, deviations and times."""
        added = {"overview": [PRINTED], "times": [DEVIATIONS]}
        parts: list[Part] = []
        for part in page_parts:
            if part.anchor == "times":
                part = replace(part, items=TIMES)
                parts.append(CLAIMS)
            parts += [part, *added.get(part.anchor, [])]
        return tuple(parts)
