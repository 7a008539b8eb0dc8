"""Schema faults come first, by themselves, and are the cause of no other."""

from __future__ import annotations

from typing import Any

import pytest
from support.study_files import load

from cdspp.core.errors import ConfigError


def faults(config: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(config)
    head, *lines = str(caught.value).splitlines()
    if not lines:
        return [head.removeprefix("the configuration: ")]
    return [line.removeprefix("  - ") for line in lines]


def entry(config: dict[str, Any], section: str, name: str) -> dict[str, Any]:
    found: dict[str, Any]
    [found] = [entry for entry in config[section] if entry["id"] == name]
    return found


def test_schema_faults_are_named_at_once_and_before_all_others(
    config: dict[str, Any],
) -> None:
    entry(config, "methods", "cdspp")["options"] = {"alhpa": 1}
    entry(config, "settings", "wide")["methods"] = ["cdsp"]
    entry(config, "views", "tfidf")["extractor"] = "txt"
    others = faults(config)
    for name in ("'alhpa'", "'cdsp'", "'txt'"):
        assert any(name in fault for fault in others), name
    config["trails"] = 3
    entry(config, "benchmarks", "digits")["titel"] = "Digits"
    entry(config, "methods", "svm-t")["trials"] = "many"
    found = faults(config)
    assert len(found) == 3
    for name in ("'trails'", "'titel'", "'many'"):
        assert any(name in fault for fault in found), name


def without(key: str) -> Any:
    return lambda entry: entry.pop(key)


@pytest.mark.parametrize(
    ("section", "name", "spoil"),
    [
        ("views", "tfidf-pca", lambda e: e.update(option=e.pop("options"))),
        ("benchmarks", "digits", without("labels")),
        ("methods", "cdspp", lambda e: e.update(options=3)),
        ("methods", "cdspp", lambda e: e.update(benchmarks=[])),
        ("settings", "wide", lambda e: e.update(sauce=e.pop("source"))),
        ("settings", "wide", lambda e: e.update(benchmarks="digits", options={"C": 1})),
    ],
)
def test_a_broken_entry_is_blamed_once(
    config: dict[str, Any], section: str, name: str, spoil: Any
) -> None:
    tasks = ["print_sketch"]
    config["settings"][0] |= {"benchmarks": ["digits"], "tasks": tasks}
    spoil(entry(config, section, name))
    assert len(faults(config)) == 1


@pytest.mark.parametrize("section", ["views", "benchmarks", "methods"])
@pytest.mark.parametrize("value", [None, "all"])
def test_a_broken_section_is_blamed_once(
    config: dict[str, Any], section: str, value: Any
) -> None:
    config[section] = value
    assert len(faults(config)) == 1
    config["trials"] = "many"
    assert len(faults(config)) == 2


def test_a_number_of_things_is_no_decimal(config: dict[str, Any]) -> None:
    config["trials"] = 2.0
    assert "trials: expected a whole number, got 2.0." in faults(config)


def test_a_long_value_is_shown_in_part(config: dict[str, Any]) -> None:
    config["trials"] = [*range(1000)]
    [fault] = [fault for fault in faults(config) if fault.startswith("trials")]
    assert fault.startswith("trials: expected a whole number, got [0, 1, 2")
    assert fault.endswith("998, 999].")
    assert len(fault) < 260
