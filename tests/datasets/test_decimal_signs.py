"""Numbers and dates of other countries: what a file shows decides, else an option."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cdspp import TableEncoder, read_table
from cdspp.core.errors import DataError
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain

# Two columns, the first row of cells; by no option, a decimal comma, a point. None: it
# has to be asked.
FORMS: list[tuple[str, list[str], list[float] | None, list[float], list[float]]] = [
    # what is clear in itself, whatever is between the cells
    (";", ["0,5", "7"], [0.5, 7], [0.5, 7], [0.5, 7]),
    (",", ["0.250", "7"], [0.25, 7], [0.25, 7], [0.25, 7]),
    ("\t", ["0,250", "-,5"], [0.25, -0.5], [0.25, -0.5], [0.25, -0.5]),
    (";", ["1.234,5", "7"], [1234.5, 7], [1234.5, 7], [1234.5, 7]),
    (",", ["1,234.5", "7"], [1234.5, 7], [1234.5, 7], [1234.5, 7]),
    (";", ["1.234.567", "7"], [1234567, 7], [1234567, 7], [1234567, 7]),
    # three decimals, or a thousand
    (";", ["14,250", "7"], [14.25, 7], [14.25, 7], [14250, 7]),
    ("\t", ["14,250", "0,5"], [14.25, 0.5], [14.25, 0.5], [14250, 0.5]),
    (",", ["1.234", "7"], [1.234, 7], [1234, 7], [1.234, 7]),
    ("\t", ["1.234", "7"], [1.234, 7], [1234, 7], [1.234, 7]),
    (";", ["1.234", "0.5"], [1.234, 0.5], [1234, 0.5], [1.234, 0.5]),
    # the file stands against decimals, or nothing stands for a comma
    (";", ["1.234", "7"], None, [1234, 7], [1.234, 7]),
    (";", ["1.234", "0,5"], None, [1234, 0.5], [1.234, 0.5]),
    (",", ["14,250", "7"], None, [14.25, 7], [14250, 7]),
    (",", ["14,250", "1.234"], None, [14.25, 1234], [14250, 1.234]),
]


@pytest.mark.parametrize(("separator", "cells", "found", "comma", "point"), FORMS)
def test_every_form_of_a_number_is_read_or_asked_about(
    separator: str,
    cells: list[str],
    found: list[float] | None,
    comma: list[float],
    point: list[float],
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.csv"
    rows = pd.DataFrame([cells] * 3, columns=["a", "b"])
    rows.to_csv(path, sep=separator, index=False)
    for decimal, expected in ((None, found), (",", comma), (".", point)):
        if expected is None:
            asked = r"'a': '\S+' may be \S+ or \S+: .*decimal sign.* decimal="
            with pytest.raises(DataError, match=asked):
                read_table(path, decimal=decimal)
        else:
            assert read_table(path, decimal=decimal).X.iloc[1].tolist() == expected


def test_rows_to_come_are_read_by_what_their_own_file_shows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n12,5;0,5\n13,5;1,5\n")
    fitted = read_domain(path)
    assert fitted.notes == ("decimal commas: a, b",)
    readings = {  # of a table that a model with decimal commas is to predict
        "a,b\n12.5,0.5\n": (12.5, 0.5),
        "a,b\n1.234,0.5\n": (1.234, 0.5),
        'a,b\n"14,250","15,125"\n': (14.25, 15.125),
        "a;b\n12;0,5\n": (12, 0.5),
    }
    for text, expected in readings.items():
        path.write_text(text)
        result = read_domain(path, Columns(), fitted.encoder)
        assert tuple(result.X[0]) == expected
        # The note is of the file: which of its columns have decimal commas.
        commas = [n for n, cell in zip("ab", expected, strict=True) if cell % 1]
        message = f"decimal commas: {', '.join(commas)}"
        assert result.notes == ((message,) if "." not in text else ())
    path.write_text("a,b\n1.234,7\n")
    with pytest.raises(DataError, match=r"'1.234' may be 1.234 or 1234: .*--decimal"):
        read_domain(path, Columns(), fitted.encoder)
    for decimal, expected in ((",", 1234), (".", 1.234)):
        result = read_domain(path, Columns(decimal=decimal), fitted.encoder)
        assert result.X[0, 0] == expected


def test_text_of_which_nearly_all_values_differ_is_no_one_hot(tmp_path: Path) -> None:
    notes = [f"note {k}" for k in range(30)]
    rows = pd.DataFrame({"note": notes, "site": ["A", "B"] * 15, "n": range(30)})
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    frequency = "'note' holds 30 .*categories=frequency, or drop=.note"
    with pytest.raises(DataError, match=frequency):
        read_table(path, categories="one-hot")
    assert read_table(path, categories="one-hot", drop=["note"]).X.shape == (30, 3)
    few = TableEncoder(categories="one-hot").fit(rows[:19])
    assert few.transform(rows[:19]).shape == (19, 22)


@pytest.mark.parametrize(
    ("cells", "date"),
    [
        (["21-04-99"], "1999-04-21"),
        (["12-25-13"], "2013-12-25"),
        (["21.04.13"], "2013-04-21"),  # points: the day comes first
        (["03/04/2020", "13/04/2020"], "2020-04-03"),
        (["04/13/2020"], "2020-04-13"),
    ],
)
def test_a_date_is_read_in_the_only_order_that_is_possible(
    cells: list[str], date: str
) -> None:
    result = TableEncoder(dates="number").fit_transform(pd.DataFrame({"seen": cells}))
    assert result[0, 0] == np.datetime64(date, "D").astype(int)


@pytest.mark.parametrize(
    "cells", [["21-04-13", "20-05-14"], ["21/04/13"], ["03-04-05"]]
)
def test_a_date_of_several_possible_orders_is_asked_about(cells: list[str]) -> None:
    rows = pd.DataFrame({"seen": cells})
    with pytest.raises(DataError, match="day, .*month.*year"):
        TableEncoder(dates="number").fit(rows)
    form = cells[0][-3].join(["%y", "%m", "%d"])
    result = TableEncoder(dates="number", date_format=form).fit_transform(rows)
    year, month, day = map(int, cells[0].split(cells[0][-3]))
    date = np.datetime64(f"{2000 + year}-{month:02}-{day:02}", "D")
    assert result[0, 0] == date.astype(int)
