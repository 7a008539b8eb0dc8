"""Vectors of the user's own: matched by identifiers, whole, or refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

from cdspp.cli.main import main
from cdspp.core.errors import DataError
from cdspp.features import own_digests
from cdspp.features.embeddings import Embeddings

FILES = [Path("/at/photos/web/cup", name) for name in ("a.jpg", "b.png", "c.v2.jpg")]
PATHS = ["web/cup/a.jpg", "web/cup/b.png", "web/cup/c.v2.jpg"]
X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def write_lists(path: Path, ids: Sequence[Any], vectors: Any = X) -> str:
    parquet.write_table(pa.table({"id": ids, "vector": [*vectors]}), path)
    return str(path)


@pytest.mark.parametrize(
    "ids",
    [
        PATHS,
        ["cup\\a.jpg", "cup\\b.png", "cup\\c.v2.jpg"],
        ["/home/me/photos/web/cup/a.jpg", "./web/cup/b.png", "web/cup/c.v2.jpg"],
        ["a", "b", "c.v2"],
        ["cup/a", "cup/b", "cup/c.v2"],
    ],
)
def test_any_form_of_identifier_finds_its_file(ids: list[str], tmp_path: Path) -> None:
    order = [2, 0, 1]
    more = [*(ids[k] for k in order), "phone/cup/z.jpg"]
    path = write_lists(tmp_path / "v.parquet", more, [*X[order], [7, 8]])
    found = Embeddings(file=path).extract(FILES)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, X)


def write_wide(path: Path) -> None:
    pd.DataFrame(X, index=PATHS, columns=["d0", "d1"]).to_parquet(path)


def write_matrix(path: Path) -> None:
    np.savez(path, ids=np.array(PATHS), embeddings=X)


def write_each(path: Path) -> None:
    arrays: dict[str, Any] = dict(zip("ab", X, strict=False)) | {"c.v2": X[2]}
    np.savez_compressed(path, **arrays)


def write_tensors(path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    ids = {"ids": json.dumps(PATHS)}
    save_file({"x": torch.tensor(X).bfloat16()}, path, metadata=ids)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_wide, "v.parquet"),
        (write_matrix, "v.npz"),
        (write_each, "v.npz"),
        (write_tensors, "v.safetensors"),
    ],
)
def test_files_of_each_form_are_read(write: Any, name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    extractor = Embeddings(file=str(tmp_path / name))
    np.testing.assert_array_equal(extractor.extract(FILES), X)
    assert [*own_digests("embeddings", {"file": extractor.file})] == [extractor.file]
    assert str(tmp_path) not in str(extractor.recorded_options())


@pytest.mark.parametrize(
    ("ids", "vectors", "message"),
    [
        (PATHS[1:], X[1:], r"no vector for 1 of 3 files \(web/cup/a\.jpg\)"),
        ([*PATHS, PATHS[0]], [*X, X[0]], "1 identifier with more than one .*a.jpg"),
        (PATHS, [*X[:2], [5]], r"1 of 3 .* another length than 2: .*v2.jpg \(1\)"),
        (PATHS, [*X[:2], None], r"1 of 3 .* another length than 2: .*v2.jpg \(0\)"),
        (PATHS, [*X[:2], [5, np.nan]], "NaN or infinite .* 1 of 3 rows: .*v2.jpg"),
        (PATHS, [*X[:2], [5, 1e300]], "NaN or infinite .* 1 of 3 rows: .*v2.jpg"),
        (["x/a", "y/a", "b", "c.v2"], [*X, X[0]], "1 identifier of several .*: a"),
        (PATHS, [["a"], ["b"], ["c"]], "expected lists of numbers"),
    ],
)
def test_vectors_without_a_place_or_number_are_named(
    ids: list[str], vectors: Any, message: str, tmp_path: Path
) -> None:
    path = write_lists(tmp_path / "v.parquet", ids, vectors)
    with pytest.raises(DataError, match=message):
        Embeddings(file=path).extract(FILES)


def test_no_pickle_is_read_and_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, ids=np.array(PATHS, dtype=object), x=X)
    with pytest.raises(DataError, match=r"v\.npz: an array holds pickled objects"):
        Embeddings(file=str(path)).check_own_files()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match=r"v\.npz: not a readable file of vectors"):
        Embeddings(file=str(path)).check_own_files()


def test_a_plan_names_files_of_a_folder_without_a_vector(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    ids = []
    for domain, label, k in product(("web", "phone"), ("cup", "pen"), range(6)):
        path = Path("texts", domain, label, f"{k}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"a {label} of {domain} {k}")
        ids.append(path.relative_to("texts").as_posix())
    assert main(["init", "mine", "--folder", "texts"]) == 0
    study = yaml.safe_load(Path("mine.yaml").read_text())
    for view in study["views"]:
        view |= {"extractor": "embeddings", "options": {"file": "v.npz"}}
    Path("mine.yaml").write_text(yaml.safe_dump(study))
    vectors = np.random.default_rng(0).normal(size=(len(ids), 3))
    np.savez("v.npz", ids=np.array(ids), x=vectors)
    assert main(["plan", "mine.yaml"]) == 0
    np.savez("v.npz", ids=np.array(ids[4:]), x=vectors[4:])
    capsys.readouterr()
    assert main(["plan", "mine.yaml"]) == 2
    missing = "v.npz: no vector for 4 of 12 files (web/cup/0.txt, web/cup/1.txt, web/cu"
    assert missing in capsys.readouterr().err
