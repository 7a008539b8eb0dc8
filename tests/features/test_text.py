"""TF-IDF of text files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cdspp.core.errors import DataError
from cdspp.features.text import Text

TEXTS = [
    "The cat sat on the mat.",
    "A cat and a dog; cat_food = 3",
    "dog_food(dog, Cat)",
    "",
]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(len(TEXTS))]
    for path, text in zip(paths, TEXTS, strict=True):
        path.write_text(text)
    return paths


def test_rows_are_sparse_float32_of_unit_length(files: list[Path]) -> None:
    X = Text().extract(files)
    assert isinstance(X, sparse.csr_array)
    assert X.dtype == np.float32
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    np.testing.assert_allclose(lengths, [1, 1, 1, 0], atol=1e-6)


def test_snake_case_is_split_unless_whole_words_are_asked_for(
    files: list[Path],
) -> None:
    assert Text(min_df=2).extract(files).shape[1] == len({"cat", "dog", "food"})
    whole = {"cat", "the", "sat", "on", "mat", "and", "dog", "cat_food", "dog_food"}
    assert Text(tokens="words", min_df=1).extract(files).shape[1] == len(whole)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("हिन्दी भाषा सुंदर है", ["हिन्दी", "भाषा", "सुंदर", "है"]),
        ("كَتَبَ الوَلَدُ", ["كَتَبَ", "الوَلَدُ"]),
        ("cre\u0300me Zu\u0308rich", ["crème", "zürich"]),
        ("ที่สวย", ["ที่ส", "สว", "วย"]),
        ("机器学习。猫, Python入門", ["机器", "器学", "学习", "猫", "python", "入門"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("한국어 x", ["한국어"]),
    ],
)
def test_words_of_any_script_keep_their_letters(
    text: str, tokens: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    assert Text().terms(path) == tokens


def test_terms_of_characters_end_with_the_word(files: list[Path]) -> None:
    _, terms = Text(tokens="characters", ngram=3, min_df=1).extract_named(files)
    assert {" ca", "cat", "at ", "do", "d"} <= {*terms.tolist()}
    assert not any(" " in term.strip() for term in terms.tolist())


def test_an_empty_document_gives_a_zero_row_and_a_warning(
    files: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    assert Text().extract(files)[[3]].nnz == 0
    assert "1 of 4 documents have no term" in caplog.text


def test_the_options_reach_the_weights(files: list[Path]) -> None:
    base = Text(min_df=1).extract(files).shape[1]
    assert Text(min_df=1, stop_words="english").extract(files).shape[1] < base
    assert Text(min_df=1, max_features=2).extract(files).shape[1] == 2
    assert Text(min_df=1, ngram=2).extract(files).shape[1] > base
    assert Text(min_df=1, max_df=0.5).extract(files).shape[1] < base
    assert Text(min_df=1, lowercase=False).extract(files).shape[1] > base
    plain = Text(min_df=1, sublinear_tf=False).extract(files)
    assert abs(plain - Text(min_df=1).extract(files)).max() > 0.01


def test_a_file_that_cannot_be_decoded_is_named(files: list[Path]) -> None:
    files[1].write_bytes("naïve".encode("latin-1"))
    with pytest.raises(DataError, match=r"1\.txt: .*read.* utf-8"):
        Text().extract(files)
    assert Text(encoding="latin-1", min_df=1).extract(files).shape[0] == 4


@pytest.mark.parametrize("min_df", [1, 4])
def test_documents_without_common_terms_are_an_error(
    files: list[Path], min_df: int
) -> None:
    chosen = files if min_df > 1 else files[3:]
    with pytest.raises(DataError, match=r"documents.*term .*\. Lower min_df"):
        Text(min_df=min_df).extract(chosen)
