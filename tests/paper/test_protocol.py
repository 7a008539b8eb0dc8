"""The protocol of the paper, and the study that runs it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from support.study_files import ROOT, load, read_study

from cdspp.datasets.catalogue import load_catalogue
from cdspp.methods import option_defaults
from cdspp.paper.printed import PRINTED_TRIALS
from cdspp.paper.protocol import Protocol, read_protocol
from cdspp.paper.times import TIMED_TRIALS
from cdspp.study.model import Benchmark, Study

Facts = dict[str, Any]
PAPER = ROOT / "resources/paper"
STUDY = read_study("paper")
PROTOCOL = yaml.safe_load((PAPER / "protocol.yaml").read_text())
CATALOGUE = load_catalogue(ROOT / "resources/datasets.yaml")


def protocol_facts(protocol: Protocol) -> Facts:
    """Return every value that the paper states, by its place in the protocol."""
    facts: Facts = {"main.trials": protocol.main["trials"]}
    for method, options in protocol.main["options"].items():
        facts |= {f"main.options.{method}.{n}": v for n, v in options.items()}
    for method, names in protocol.main["benchmarks"].items():
        facts[f"main.benchmarks.{method}"] = sorted(names)
    for name, entry in protocol.benchmarks.items():
        place, tasks = f"benchmarks.{name}", protocol.tasks(name)
        facts |= {f"{place}.tasks": tasks, f"{place}.classes": entry["classes"]}
        facts |= {f"{place}.labels.{r}": n for r, n in entry["labels"].items()}
        facts[f"{place}.unlabelled"] = entry["unlabelled"]
        for role in ("source", "target"):
            facts[f"{place}.{role}.view"] = entry[role]["view"]
            facts[f"{place}.{role}.width"] = entry[role]["width"]
    for parameter, by_benchmark in protocol.curves["values"].items():
        facts[f"curves.methods.{parameter}"] = protocol.curves["methods"][parameter]
        facts[f"curves.splits.{parameter}"] = protocol.curves["splits"][parameter]
        for name, values in by_benchmark.items():
            place = f"curves.{parameter}.{name}"
            facts[f"{place}.values"] = values
            facts[f"{place}.tasks"] = protocol.curve_tasks(name)
            facts[f"{place}.trials"] = protocol.curves["scope"][name]["trials"]
            facts[f"{place}.dropped"] = []
    facts["subspace.benchmarks"] = list(protocol.subspace["benchmarks"])
    facts["subspace.iterations"] = len(protocol.subspace["accuracy"])
    facts["times.trials"] = protocol.times["trials"]
    for name, entry in protocol.benchmarks.items():
        facts[f"times.{name}.tasks"] = protocol.times["tasks"][entry["time"]]
    return facts


def study_facts(config: dict[str, Any], protocol: Protocol) -> Facts:
    """Return the same values of a study, by the same places."""
    study = load(config)
    paper = {e["id"]: e["printed"] for e in config["benchmarks"] if "printed" in e}
    facts: Facts = {"main.trials": study.trials}
    for method, options in protocol.main["options"].items():
        known = option_defaults(method) | dict(study.methods[method].options)
        known = {n: "classes" if v is None else v for n, v in known.items()}
        facts |= {f"main.options.{method}.{name}": known[name] for name in options}
    for method in protocol.main["benchmarks"]:
        ran = {paper[name] for name in study.methods[method].tasks}
        facts[f"main.benchmarks.{method}"] = sorted(ran)
    for name, printed in paper.items():
        facts |= _benchmark_facts(study, study.benchmarks[name], printed)
    facts |= _curve_facts(study, paper)
    plans = ((paper[n], benchmark) for n, benchmark in study.benchmarks.items())
    shown = {printed for printed, benchmark in plans if benchmark.showcase}
    facts["subspace.benchmarks"] = [n for n in protocol.benchmarks if n in shown]
    facts["subspace.iterations"] = study.methods["cdspp"].options["max_iter"]
    facts["times.trials"] = TIMED_TRIALS
    for name, printed in paper.items():
        facts[f"times.{printed}.tasks"] = len(study.benchmarks[name].tasks)
    return facts


def _benchmark_facts(study: Study, benchmark: Benchmark, printed: str) -> Facts:
    place = f"benchmarks.{printed}"
    dataset = CATALOGUE[benchmark.dataset]
    facts: Facts = {f"{place}.tasks": benchmark.tasks}
    facts[f"{place}.classes"] = len(dataset["classes"])
    for role in ("source", "target"):
        facts[f"{place}.labels.{role}"] = benchmark.labels[role]
        view = study.views[getattr(benchmark, f"{role}_view")]
        own = set(
            dict.fromkeys(task.split("_")[role == "target"] for task in benchmark.tasks)
        )
        if view.extractor == "pca":
            width = {d: view.domain_options(d)["n_components"] for d in sorted(own)}
            view = study.views[view.view]
        else:
            width = dataset["published"][view.options["name"]]["width"]
        facts[f"{place}.{role}.view"] = view.options["name"]
        facts[f"{place}.{role}.width"] = width
    facts[f"{place}.unlabelled"] = benchmark.labels.get("unlabelled", "all")
    return facts


def _curve_facts(study: Study, paper: dict[str, str]) -> Facts:
    facts: Facts = {}
    for curve in study.curves:
        place = f"curves.{curve.parameter}.{paper[curve.benchmark]}"
        assert f"{place}.values" not in facts
        facts[f"{place}.values"] = [entry.value for entry in curve.values]
        facts[f"{place}.tasks"] = curve.tasks
        facts[f"{place}.trials"] = curve.n_trials
        facts[f"{place}.dropped"] = [
            f"{value} of {task}" for value, task in curve.dropped
        ]
        methods = facts.setdefault(
            f"curves.methods.{curve.parameter}", list(curve.methods)
        )
        assert methods == list(curve.methods)
        own = study.benchmarks[curve.benchmark].protocol
        settings = (study.settings[entry.setting] for entry in curve.values)
        (splits,) = {setting.protocol or own for setting in settings}
        facts[f"curves.splits.{curve.parameter}"] = splits
    return facts


def differences(protocol: Facts, study: Facts) -> dict[str, tuple[Any, Any]]:
    """Return both values of each place where they differ."""
    places = protocol.keys() | study.keys()
    pairs = {place: (protocol.get(place), study.get(place)) for place in places}
    return {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}


def declared(protocol: Protocol) -> dict[str, tuple[Any, Any]]:
    return {e["place"]: (e["paper"], e["study"]) for e in protocol.differences}


def compare(protocol: dict[str, Any], config: dict[str, Any]) -> None:
    parsed = Protocol(**protocol)
    found = differences(protocol_facts(parsed), study_facts(config, parsed))
    assert found == declared(parsed)


def test_the_study_runs_the_protocol_but_for_differences_with_a_reason() -> None:
    compare(PROTOCOL, STUDY)
    assert read_protocol(PAPER) == Protocol(**PROTOCOL)
    assert PROTOCOL["main"]["trials"] == PRINTED_TRIALS
    assert all(entry["reason"].endswith(".") for entry in PROTOCOL["differences"])
    assert (ROOT / PROTOCOL["study"]).is_file()


def entry(config: Any, section: str, name: str) -> Any:
    return next(each for each in config[section] if each["id"] == name)


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "trials": lambda p, s: s.update(trials=9),
    "labels": lambda p, s: entry(s, "benchmarks", "mrc")["labels"].update(target=5),
    "width": lambda p, s: entry(s, "views", "words-pca")["options"][
        "n_components"
    ].update(sp=800),
    "alpha": lambda p, s: entry(s, "methods", "cdspp")["options"].update(alpha=1),
    "a curve": lambda p, s: s["curves"].remove(entry(s, "curves", "labels-of-tags")),
    "benchmarks": lambda p, s: entry(s, "methods", "hfa").update(benchmarks=["mrc"]),
    "trials of a curve": lambda p, s: p["curves"]["scope"]["mrc"].update(trials=3),
    "seconds": lambda p, s: p["times"].update(trials=5),
    "a reason": lambda p, s: p["differences"].pop(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_value_of_either_is_found(name: str) -> None:
    protocol, config = copy.deepcopy(PROTOCOL), copy.deepcopy(STUDY)
    CHANGES[name](protocol, config)
    with pytest.raises(AssertionError):
        compare(protocol, config)


def test_both_directions_of_a_data_set_have_its_name() -> None:
    protocol = read_protocol(PAPER)
    directions = ["office-home-vgg16-resnet50", "office-home-resnet50-vgg16"]
    assert protocol.title_of(directions) == "Office-Home"
    assert protocol.title_of(directions[:1]) == "Office-Home (VGG16 to ResNet50)"
    assert (
        protocol.title_of(["mrc", "nus-imagenet"])
        == "Multilingual Reuters, NUS-ImageNet"
    )
    assert protocol.title_of(list(protocol.benchmarks)) == "all data sets"
