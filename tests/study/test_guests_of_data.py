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

from cdspp.core.errors import ConfigError, DataError
from cdspp.stages.data import prepare_dataset, write_labels
from cdspp.stages.features import extract_view
from cdspp.stages.formats import labels_by_id, read_features

ODD = """
from dataclasses import dataclass
import shop

class Whole(shop.Goods):
    def __init__(self, size=12):
        self.size = size

    def contents(self):
        return {name: dict.fromkeys(self.classes, self.size) for name in ("en", "de")}

class Lacking(shop.Dataset):
    kind, domains, classes = "texts", ("en", "de"), ("tea", "ink")

class Silent(Lacking):
    def generate(self, folder):
        return {}

class Pressed(Whole):
    kind = "flowers"

class Elsewhere(Whole):
    domains = "en", "fr"

class Stops(Silent):
    def contents(self):
        return 1 / 0

@dataclass(frozen=True)
class Blind(shop.FileExtractor):
    identifier, kind = "blind", "texts"

@dataclass(frozen=True)
class Strict(shop.Letters):
    def __post_init__(self):
        raise ValueError("never enough letters")
"""
PAGE = Path(__file__).parents[2] / "docs/guide/own-method.md"
OWN = {"class": "shop:Goods"}


def block(language: str, caption: str) -> str:
    opening = rf"```{language} {caption}\n(.*?)```"
    (found,) = re.findall(opening, PAGE.read_text(), re.S)
    return str(found)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "shop.py").write_text(block("python", "shop.py"))
    (tmp_path / "odd.py").write_text(ODD)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]
    for name in ("shop", "odd"):
        sys.modules.pop(name, None)


@pytest.fixture
def config(embedded: dict[str, Any]) -> dict[str, Any]:
    empty = {"settings": [], "curves": [], "deviations": []}
    empty["methods"] = [{"id": name} for name in ("svm-t", "cdspp")]
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
        files={"index": index},
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


def test_a_data_set_that_makes_other_files_than_it_says_is_refused(
    folder: Path,
) -> None:
    own = {"class": "odd:Whole", "options": {"size": 11}}
    index = folder / "data/goods/index.json"
    with pytest.raises(DataError, match="domain en: contents.* says .*11.* made .*12"):
        prepare_dataset(name="goods", output=index, own=own)
    prepare_dataset(name="goods", output=index, own=own | {"options": {"size": 12}})
    assert index.is_file()


@pytest.mark.parametrize(
    ("section", "entry", "told"),
    [
        ("datasets", {"class": "shop:Godos"}, "shop.*class Godos: did you mean"),
        ("datasets", {"class": "shop:Letters"}, "class.* cdspp.dat"),
        ("datasets", {"class": "shop:Goods", "folder": "a"}, "folder, tables"),
        ("datasets", {"class": "odd:Lacking"}, "abstract .*generate"),
        ("datasets", {"class": "odd:Silent"}, r"odd:Silent: Silent needs contents\(\)"),
        ("datasets", {"class": "odd:Pressed"}, "kind.* got 'flowers'"),
        ("datasets", {"class": "odd:Elsewhere"}, r"contents\(\) .*class sizes"),
        ("datasets", {"class": "odd:Stops"}, r"failed before .* \(ZeroDivisionError:"),
        ("views", {"extractor": "odd:Blind"}, "identifier, kind, .*extract.*reduce"),
        ("views", {"extractor": "odd:Strict"}, "options: .*letters"),
        ("views", {"extractor": "shop:Goods"}, "derived from FileExtractor or ViewExt"),
        ("views", {"options": {"cases": True}}, "option 'cases': did you mean"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_no_data_set_or_extractor_is_refused_in_a_line(
    config: dict[str, Any], section: str, entry: dict[str, Any], told: str
) -> None:
    config[section][0] |= entry
    with pytest.raises(ConfigError, match=told):
        load(config)
