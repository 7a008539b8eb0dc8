"""Tables of one's own as a data set: classes, rows without a label, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cdspp.core.errors import ConfigError, DataError
from cdspp.datasets import TablesDataset, open_dataset, own_dataset, read_index
from cdspp.stages.data import prepare_dataset, write_labels
from cdspp.stages.features import extract_view
from cdspp.stages.formats import labels_by_id, read_features

LAB = pd.DataFrame({"kind": list("aabbc"), "x": range(5), "y": [0.5] * 5, "day": 1})
FIELD = pd.DataFrame(
    {"sample": list("vwxyz"), "kind": ["b", None, "a", "a", ""], "z": [4, 3, 2, 1, 0]}
)
HOW: dict[str, Any] = {"columns": {"label": "kind", "id": "sample"}, "drop": ["day"]}


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, str]:
    LAB.to_csv(tmp_path / "lab.csv", index=False)
    FIELD.to_parquet(tmp_path / "field.parquet", index=False)
    return {"lab": str(tmp_path / "lab.csv"), "field": str(tmp_path / "field.parquet")}


def test_tables_hold_classes_by_domain_and_rows_without_a_label(
    tables: dict[str, str],
) -> None:
    result = TablesDataset("plants", tables, **HOW)
    assert result.contents() == {
        "lab": {"a": 2, "b": 2, "c": 1},
        "field": {"": 2, "a": 2, "b": 1},
    }
    assert result.classes == ("a", "b", "c")
    first, second = result.notes()
    assert first.endswith("2 of 5 rows have no label; as a target they are predicted.")
    assert second.splitlines()[:3] == [
        "plants: some domains lack classes:",
        "    class  lab  field",
        "    c        1      -",
    ]


def test_a_prepared_table_gives_rows_by_id_with_labels_or_none(
    tables: dict[str, str], tmp_path: Path
) -> None:
    own, index = {"tables": tables, **HOW}, tmp_path / "data" / "index.json"
    prepare_dataset(name="plants", own=own, output=index)
    assert read_index(index).ids("field") == list("vwxyz")
    write_labels(index, "field", tmp_path / "field.labels.parquet")
    labels = labels_by_id(tmp_path / "field.labels.parquet")
    assert labels == {"v": "b", "w": "", "x": "a", "y": "a", "z": ""}
    given: dict[str, Any] = {"options": {}, "numeric_threads": 1}
    for domain in ("lab", "field"):
        given |= {"domain": domain, "output": tmp_path / f"{domain}.npz"}
        extract_view(files={"index": index}, extractor="table", **given)
    assert read_features(tmp_path / "field.npz").X.tolist() == [[4], [3], [2], [1], [0]]
    assert read_features(tmp_path / "lab.npz").X.shape == (5, 2)


def test_what_tables_hold_is_remembered_until_they_or_how_they_are_read_change(
    tables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "data" / "plants" / "digests.json"
    first = TablesDataset("plants", tables, **HOW, cache=memory).contents()
    monkeypatch.setattr("cdspp.datasets.table_rows.read_domain", None)
    again = TablesDataset("plants", tables, **HOW, cache=memory)
    assert again.contents() == first
    assert again.features == {"lab": ["x", "y"], "field": ["z"]}
    memory.with_name("contents.json").write_text("{")
    with pytest.raises(TypeError):  # it would be read, for what was kept is damaged
        TablesDataset("plants", tables, **HOW, cache=memory).contents()
    other = TablesDataset("plants", tables, **(HOW | {"impute": True}), cache=memory)
    assert other.fingerprint() != again.fingerprint()


@pytest.mark.parametrize(
    ("change", "how", "message"),
    [
        ({"x": None}, {}, "line 2, column 'x': .*number.*missing .* impute"),
        ({}, {"drop": ["dai"]}, "no column 'dai' for drop. Similar: 'day'"),
        ({"sample": "s"}, {}, "the id 's' occurs 5 times, expected once. Name an"),
        ({"Label": "s"}, {}, r"Name .*columns: \{label: Label\}, leave it"),
    ],
)
def test_what_cannot_be_read_is_said_in_words_of_a_study_file(
    change: dict[str, Any], how: dict[str, Any], message: str, tables: dict[str, str]
) -> None:
    LAB.assign(**change).to_csv(tables["lab"], index=False)
    with pytest.raises(DataError, match=message):
        TablesDataset("plants", tables, **{**HOW, **how}).contents()


def test_words_for_no_label_are_counted_and_kept_where_they_are_classes(
    tables: dict[str, str],
) -> None:
    FIELD.assign(kind=["b", "NA", "a", "a", "null"]).to_parquet(tables["field"])
    result = TablesDataset("plants", tables, **HOW)
    assert result.contents()["field"] == {"": 2, "a": 2, "b": 1}
    assert "(1 'NA' and 1 'null' among them)" in result.notes()[0]
    kept = TablesDataset("plants", tables, **HOW, keep_labels=["NA"])
    assert kept.contents()["field"] == {"": 1, "NA": 1, "a": 2, "b": 1}
    assert kept.fingerprint() != result.fingerprint()


def test_classes_that_look_alike_are_refused_unless_one_is_kept(
    tables: dict[str, str],
) -> None:
    FIELD.assign(kind=list("bAaaB")).to_parquet(tables["field"])
    message = r"'a' \(lab and field\), 'A' \(field\); 'b' .*name one with keep_labels"
    with pytest.raises(DataError, match=message):
        TablesDataset("plants", tables, **HOW).contents()
    result = TablesDataset("plants", tables, **HOW, keep_labels=["A", "B"])
    assert result.classes == ("A", "B", "a", "b", "c")


def test_one_file_for_two_domains_is_refused(tables: dict[str, str]) -> None:
    twice = TablesDataset("plants", {**tables, "again": tables["lab"]}, **HOW)
    with pytest.raises(DataError, match="lab.csv: .*lab .*again"):
        twice.contents()


def test_ids_in_two_tables_are_told_and_rows_without_ids_share_none(
    tables: dict[str, str], tmp_path: Path
) -> None:
    assert len(TablesDataset("plants", tables, **HOW).notes()) == 2
    LAB.assign(sample=list("vwabc")).to_csv(tables["lab"], index=False)
    *_, note = TablesDataset("plants", tables, **HOW).notes()
    assert note.startswith("plants: 2 ids in more than one table: treated as the same")
    FIELD.drop(columns="sample").to_parquet(tables["field"])
    how = HOW | {"columns": {"label": "kind"}}
    LAB.to_csv(tables["lab"], index=False)
    result = TablesDataset("plants", tables, **how)
    assert len(result.notes()) == 2
    index = result.prepare(tmp_path / "data")
    assert index.ids("field")[:2] == ["field-1", "field-2"]


def test_unlabelled_rows_with_an_id_in_every_table_are_pairs_if_asked_for(
    tables: dict[str, str], tmp_path: Path
) -> None:
    lab = LAB.assign(sample=list("qrstw"), kind=["a", "a", "b", "b", None])
    lab.to_csv(tables["lab"], index=False)
    plain, paired = (
        TablesDataset("plants", tables, paired=flag, **HOW) for flag in (False, True)
    )
    assert (plain.n_paired, paired.n_paired) == (0, 1)
    assert plain.contents()["field"][""] == 2
    assert paired.contents()["field"][""] == 1
    assert "" not in paired.contents()["lab"]
    assert plain.fingerprint() != paired.fingerprint()
    index = paired.prepare(tmp_path / "data")
    assert [s.id for s in index.samples("lab") if s.paired] == ["w"]
    assert [s.id for s in index.unpaired("field") if not s.label] == ["z"]


def test_pairs_need_ids_and_rows_in_every_table(
    tables: dict[str, str], tmp_path: Path
) -> None:
    for columns, message in ((list("abcde"), "unlabelled row"), (None, "paired.*ids")):
        lab = LAB if columns is None else LAB.assign(sample=columns)
        lab.to_csv(tables["lab"], index=False)
        with pytest.raises(DataError, match=message):
            TablesDataset("plants", tables, paired=True, **HOW).prepare(tmp_path / "d")


def test_a_data_set_is_a_folder_or_tables(tables: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="folder, tables.*class"):
        own_dataset("plants", {"id": "plants"})
    with pytest.raises(ConfigError, match="impute.*tables"):
        own_dataset("plants", {"folder": "x", "impute": True})
    with pytest.raises(ConfigError, match="domain name 'Lab' .*small letters"):
        open_dataset("plants", {"tables": {"Lab": "x.csv"}}, None)
    with pytest.raises(ConfigError, match="domain name False .*, in quotes"):
        open_dataset("plants", {"tables": {False: "x.csv"}}, None)  # no, in YAML
    with pytest.raises(DataError, match=r"x\.csv: no such file"):
        own_dataset("plants", {"tables": {"lab": "x.csv", "b": "y.csv"}}).contents()


def test_columns_that_only_one_table_knows_have_no_name_in_common(
    tables: dict[str, str], tmp_path: Path
) -> None:
    """The share of rows with a site is a number of its table; so are its features."""
    LAB.assign(site=list("AABBB"), z=1).to_csv(tables["lab"], index=False)
    FIELD.assign(site=list("AAAAB")).to_parquet(tables["field"], index=False)
    shared = {"frequency": {"z"}, "one-hot": {"z", "site=A", "site=B"}}
    for categories, both in shared.items():
        columns = HOW["columns"] | {"categories": categories}
        own = {"tables": tables, "columns": columns, "drop": ["day"]}
        index, names = tmp_path / categories / "index.json", []
        prepare_dataset(name="plants", own=own, output=index)
        given: dict[str, Any] = {"options": {}, "numeric_threads": 1}
        for domain in tables:
            given |= {"domain": domain, "output": tmp_path / f"{domain}.npz"}
            extract_view(files={"index": index}, extractor="table", **given)
            columns_of = read_features(tmp_path / f"{domain}.npz").columns
            assert columns_of is not None
            names.append({*columns_of.tolist()})
        assert names[0] & names[1] == both
        own.pop("tables")
        notes = " ".join(TablesDataset("plants", tables, **own).notes())
        left_out = "plants: shared_columns leaves out site: shares of rows (frequency)"
        assert (left_out in notes) == (categories == "frequency")
    assert "site (lab only)" not in names[0]


def test_a_table_with_the_rows_of_another_is_told(tables: dict[str, str]) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.random((20, 2)), columns=["p", "q"])
    rows.assign(kind=list("ab") * 10).to_csv(tables["lab"], index=False)
    half = rows.assign(kind=[*"abab", *[None] * 16])[["kind", "q", "p"]]
    for share, message in ((half, True), (half.assign(p=half["p"] + 1), False)):
        share.to_parquet(tables["field"], index=False)
        notes = TablesDataset("plants", tables, columns={"label": "kind"}).notes()
        assert any("20 of the 20 rows" in note for note in notes) == message


def test_an_empty_column_of_labels_is_named(tables: dict[str, str]) -> None:
    LAB.assign(kind="NA").to_csv(tables["lab"], index=False)
    message = r"'kind' has none \(read as unlabelled: 5 'NA'\).* columns.label"
    with pytest.raises(DataError, match=message):
        TablesDataset("plants", tables, **HOW).contents()
