"""Rows of files as methods take them, and predictions as CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.cli.main import main
from cdspp.cli.rows import write_predictions


def test_predictions_are_written_as_csv_with_quotes_where_needed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "out.csv"
    write_predictions(path, ["a,b", "é"], ["NA", 'q"'], [1 / 3, 1.0])
    text = 'id,predicted,confidence\n"a,b",NA,0.333333\né,"q""",1\n'
    assert path.read_bytes() == text.encode()


def test_gaps_of_both_files_are_named_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("s", "t"):
        text = "a,b,c,label\n1,,2,x\n2,1,,x\n3,1,1,y\n4,1,1,y\n"
        (tmp_path / f"{name}.csv").write_text(text)
    files = ["--source", str(tmp_path / "s.csv"), "--target", str(tmp_path / "t.csv")]
    assert main(["compare", *files]) == 2
    output = capsys.readouterr().err
    assert (
        output.count("column 'b': the number is missing (2 in all, also in 'c')") == 2
    )


@pytest.mark.parametrize(
    ("command", "source"),
    [("compare", "s.csv"), ("fit --output {0}/o.csv", "link.csv")],
)
def test_one_file_for_both_domains_is_refused(
    command: str, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.csv").write_text("a,label\n1,x\n2,y\n")
    (tmp_path / "link.csv").symlink_to("s.csv")
    files = ["--source", str(tmp_path / source), "--target", str(tmp_path / "s.csv")]
    assert main([*command.format(tmp_path).split(), *files]) == 2
    assert "s.csv: given as both source and target" in capsys.readouterr().err
