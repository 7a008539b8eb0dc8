"""Tables as people have them: text, dates, true and false, decimal commas, gaps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cdspp import TableEncoder, read_table
from cdspp.core.errors import DataError
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain

MIXED = pd.DataFrame(
    {
        "age": ["41,5", "52", "NA"],
        "site": ["A", "B", ""],
        "seen": ["03.02.2020", "13.02.2020", "2.1.2021"],
        "smoker": ["TRUE", "false", "True"],
        "n": [1, 2, 3],
    }
)


def test_each_kind_of_column_becomes_numbers() -> None:
    encoder = TableEncoder(categories="one-hot", dates="parts").fit(MIXED)
    assert list(encoder.get_feature_names_out()) == [
        *("age", "site=A", "site=B", "seen.year", "seen.month", "seen.day"),
        *("seen.weekday", "smoker", "n"),
    ]
    first, second, third = encoder.transform(MIXED)
    np.testing.assert_array_equal(first, [41.5, 1, 0, 2020, 2, 3, 0, 1, 1])
    np.testing.assert_array_equal(second, [52, 0, 1, 2020, 2, 13, 3, 0, 2])
    np.testing.assert_array_equal(third, [np.nan, 0, 0, 2021, 1, 2, 5, 1, 3])


def test_frequencies_and_days() -> None:
    encoder = TableEncoder(categories="frequency", dates="number").fit(MIXED)
    days = [
        (np.datetime64(d) - np.datetime64("1970-01-01")).astype(int)
        for d in ("2020-02-03", "2020-02-13", "2021-01-02")
    ]
    result = pd.DataFrame(
        encoder.transform(MIXED), columns=encoder.get_feature_names_out()
    )
    assert result["seen"].tolist() == days
    np.testing.assert_allclose(result["site"], [1 / 3, 1 / 3, 0])
    assert encoder.notes() == [
        "decimal commas: age",
        "text as frequency: site (2 values)",
        "dates as days since 1970: seen (%d.%m.%Y)",
        "true and false as 1 and 0: smoker",
    ]


def test_what_fit_decided_holds_for_later_tables_in_any_order() -> None:
    encoder = TableEncoder(categories="one-hot", dates="number").fit(MIXED)
    kept = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    later = MIXED.assign(site="C", more=1)[["more", *reversed(list(MIXED))]]
    np.testing.assert_array_equal(
        kept.transform(later)[:, 0], encoder.transform(MIXED)[:, 0]
    )
    assert kept.transform(later)[:, 1:3].sum() == 0
    assert kept.unseen(later) == {"site": 3}
    with pytest.raises(DataError, match="lacks 2 columns.*fit: 'age', 'n'"):
        kept.transform(MIXED.drop(columns=["age", "n"]))
    renamed = r"lacks 1 column.*fit: 'age' \('AGE'\?\)\. Rename"
    with pytest.raises(DataError, match=renamed):
        kept.transform(MIXED.rename(columns={"age": "AGE"}))
    form = r"'2020-02-03' .*date.*form %d\.%m\.%Y \(3 in all\)"
    with pytest.raises(DataError, match=form):
        kept.transform(MIXED.assign(seen="2020-02-03"))
    with pytest.raises(ValueError, match="table encoder"):
        TableEncoder.from_dict({"columns": [{"name": "a"}]})


def test_every_column_that_cannot_be_encoded_is_named_at_once() -> None:
    table = MIXED.assign(n=["1", "two", "3"], born="03/04/2020")
    with pytest.raises(DataError) as caught:
        TableEncoder().fit(table)
    message = str(caught.value)
    assert "column 'site' holds text ('A', 'B')" in message
    assert "column 'seen' holds dates ('03.02.2020'," in message
    assert "row 2, column 'n': 'two' is not a number" in message
    with pytest.raises(DataError, match="'03/04/2020' .*order of day"):
        TableEncoder(categories="one-hot", dates="number").fit(table.drop(columns="n"))


def test_a_format_of_dates_is_for_the_columns_with_a_date_that_it_reads() -> None:
    table = pd.DataFrame({"a": ["03/04/2020"], "b": ["03.04.2020"]})
    encoder = TableEncoder(dates="number", date_format="%m/%d/%Y").fit(table)
    dates = np.array(["2020-03-04", "2020-04-03"], "datetime64[D]")
    np.testing.assert_array_equal(encoder.transform(table)[0], dates.astype(int))
    mixed = pd.DataFrame({"a": ["03/04/2020", "13/04/2020"]})
    with pytest.raises(DataError, match="row 2, column 'a': '13/04/2020'"):
        encoder.fit(mixed)


@pytest.mark.parametrize("option", ["categories", "dates", "decimal", "vectorise"])
def test_an_unknown_option_is_named(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be"):
        TableEncoder(**{option: "some"}).fit(MIXED)


def written(folder: Path, encoding: str) -> Path:
    path = folder / "messy.csv"
    text = "größe;ort;fest;label\n1,5;Zürich;7;ja\n2,5;Genf;7;\n"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_encodings_are_found_and_said(encoding: str, tmp_path: Path) -> None:
    table = read_table(written(tmp_path, encoding), categories="one-hot")
    assert list(table.X) == ["größe", "ort=Genf", "ort=Zürich", "fest"]
    assert ("read as" in table.notes) == (encoding != "utf-8")
    assert table.y.tolist() == ["ja", ""]


def test_an_encoding_that_is_asked_for_is_taken_or_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "cp1252")
    assert "größe" in read_table(path, encoding="latin-1", drop=["ort"]).X
    with pytest.raises(DataError, match="text file.* UTF-8 .* encoding="):
        read_table(path, encoding="utf-8", drop=["ort"])
    with pytest.raises(DataError, match="unknown encoding 'utf-nine'"):
        read_table(path, encoding="utf-nine")
    path.write_bytes(b"a,b\n1,\x81\n")  # no letter in Windows-1252, either
    with pytest.raises(DataError, match="text file.* UTF-8 .* encoding="):
        read_table(path)


def test_in_python_a_message_names_arguments(tmp_path: Path) -> None:
    path = tmp_path / "messy.csv"
    path.write_text("a;site;when;label\n1;x;2020-01-31;u\n;y;2020-02-01;v\n")
    with pytest.raises(
        DataError, match="drop=[^-]*  - .*drop=[^-]*  - .*impute="
    ) as refused:
        read_table(path)
    assert "--" not in str(refused.value)


@pytest.mark.parametrize(
    ("drop", "left"),
    [
        (("ort",), ["größe", "fest"]),
        (("*e*",), []),
        (("text", "constant"), ["größe"]),
        (("o?t", "dates"), ["größe", "fest"]),
    ],
)
def test_columns_are_left_out_by_name_pattern_and_kind(
    drop: tuple[str, ...], left: list[str], tmp_path: Path
) -> None:
    columns = Columns(drop=drop, categories="one-hot")
    path = written(tmp_path, "utf-8")
    if left:
        result = read_domain(path, columns)
        assert list(result.features) == left
        message = [note for note in result.notes if note.startswith("left out: ")]
        assert bool(message) == (drop != ("ort",))  # a name needs no telling
    else:
        columns = Columns(drop=(*drop, "ort"), categories="one-hot")
        with pytest.raises(DataError, match="got none"):
            read_domain(path, columns)


def test_skrub_encodes_text_and_dates() -> None:
    pytest.importorskip("skrub")
    encoder = TableEncoder(vectorise="skrub").fit(MIXED)
    names = list(encoder.get_feature_names_out())
    assert names[:3] == ["age", "smoker", "n"]
    assert "seen_year" in names
    result = pd.DataFrame(encoder.transform(MIXED), columns=names)
    assert result["seen_year"].tolist() == [2020, 2020, 2021]
    assert result["age"].tolist()[:2] == [41.5, 52]
    assert encoder.notes()[1] == "text and dates by skrub: site, seen"
    np.testing.assert_array_equal(encoder.transform(MIXED[::-1])[::-1], result)
    with pytest.raises(DataError, match="encoder.*skrub"):
        encoder.to_dict()
