"""Data sets and extractors from outside: the guide's, and what is refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.study_files import load

from cdspp.core.errors import ConfigError
from cdspp.core.provenance import code_digest
from cdspp.datasets import dataset_recipe
from cdspp.features import extractor_module
from cdspp.stages.artifacts import labels_by_id, read_features
from cdspp.stages.data import prepare_dataset, write_labels
from cdspp.stages.features import extract_view

PAGE = Path(__file__).parents[2] / "docs/guide/own-method.md"
OWN = {"class": "shop:Goods"}


def block(language: str, caption: str) -> str:
    opening = rf"```{{code-block}} {language}\n:caption: {caption}\n\n(.*?)```"
    (found,) = re.findall(opening, PAGE.read_text(), re.S)
    return str(found)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "shop.py").write_text(block("python", "shop.py"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]
    sys.modules.pop("shop", None)


@pytest.fixture
def config(embedded: dict[str, Any]) -> dict[str, Any]:
    empty = {"settings": [], "curves": [], "deviations": []}
    return embedded | empty | yaml.safe_load(block("yaml", "shop.yaml"))


@pytest.mark.usefixtures("folder")
def test_the_data_set_and_the_extractor_of_the_guide_are_a_benchmark(
    config: dict[str, Any],
) -> None:
    study = load(config)
    assert study.datasets["goods"].class_sizes["de"] == dict.fromkeys(
        ("tea", "ink", "oil"), 12
    )
    assert study.benchmarks["goods"].tasks == ("en_de",)


@pytest.mark.usefixtures("folder")
def test_files_labels_and_features_are_made(folder: Path) -> None:
    index = folder / "data/goods/index.json"
    prepare_dataset(name="goods", output=index, own=OWN)
    write_labels(index, "de", folder / "de.parquet")
    labels = labels_by_id(folder / "de.parquet")
    assert len(labels) == 36
    extract_view(
        index=index,
        domain="de",
        extractor="shop:Letters",
        options={"case": True},
        output=folder / "de.npz",
        numeric_threads=1,
    )
    features = read_features(folder / "de.npz")
    assert features.X.shape == (36, 256)
    assert np.all(features.X.sum(axis=1) > 5)
    assert set(features.ids) == set(labels)


@pytest.mark.usefixtures("folder")
def test_their_digests_are_those_of_the_module() -> None:
    modules = [dataset_recipe("goods", OWN)["module"], extractor_module("shop:Letters")]
    assert modules == ["shop", "shop"]
    assert code_digest("cdspp.stages.data", "shop") != code_digest("cdspp.stages.data")


@pytest.mark.parametrize(
    ("section", "entry", "told"),
    [
        ("datasets", {"class": "shop:Godos"}, "shop has no class Godos: did you mean"),
        (
            "datasets",
            {"class": "shop:Letters"},
            "a class derived from cdspp.dat",
        ),
        ("datasets", {"class": "shop:Goods", "drop": ["a"]}, "drop is not for a class"),
        (
            "datasets",
            {"class": "shop:Goods", "folder": "a"},
            "give a folder, tables",
        ),
        ("views", {"extractor": "shop:Goods"}, "derived from FileExtractor or ViewExt"),
        ("views", {"extractor": "shops:Letters"}, "cannot import shops"),
        ("views", {"extractor": "leters"}, "unknown name 'leters'"),
        ("views", {"options": {"cases": True}}, "has no option 'cases': did you mean"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_no_data_set_or_extractor_is_refused_in_a_line(
    config: dict[str, Any], section: str, entry: dict[str, Any], told: str
) -> None:
    config[section][0] |= entry
    with pytest.raises(ConfigError, match=told):
        load(config)
