"""Damaged model files: they are refused in one line, or predict; and take no memory."""

from __future__ import annotations

import io
import itertools
import json
import random
import resource
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.damage import attacks, damaged_bytes, damaged_tree, tried
from support.quick_methods import quick
from support.toy_problem import toy_problem

from cdspp.cli.main import main
from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import read_parts
from cdspp.core.scaling import fit_scaling
from cdspp.methods.model_file import read_model, save_model

PROBLEM = toy_problem()
ROWS = PROBLEM.X[:5] + 0.01
METHODS = ("cdspp", "svm-t", "dama", "cdls", "ddacl", "shared-columns-plus")


def kept(name: str, path: Path) -> Path:
    extras = {
        "features": tuple(f"x{k}" for k in range(ROWS.shape[1])),
        "scaling": fit_scaling("standardise", PROBLEM.X),
        "means": PROBLEM.X.mean(axis=0),
        "columns": (None, None, ()),
    }
    save_model(path, PROBLEM.fit(quick(name)), extras)
    return path


def predicted(path: Path) -> Any:
    model, extras = read_model(path)
    scaling = extras.get("scaling")
    return model.predict(ROWS if scaling is None else scaling.apply(ROWS))


def check(path: Path, seed: Any) -> None:
    """Predict, or be refused by an error that the commands print on one line."""
    found = tried(lambda: predicted(path), f"{seed}")
    if isinstance(found, DataError | SchemaError):
        assert str(path) in str(found), f"{seed}: {found}"
    elif isinstance(found, Exception):
        assert isinstance(found, MemoryError | ValueError), f"{seed}: {found!r}"
        plain = "features, but" in str(found) or "Input X contains" in str(found)
        assert plain or isinstance(found, MemoryError), f"{seed}: {found!r}"
    else:
        assert found.shape == (len(ROWS),), seed


@attacks(80, 3000)
@pytest.mark.parametrize("name", METHODS)
def test_a_model_whose_values_were_changed_is_refused_or_predicts(
    name: str, seeds: range, tmp_path: Path
) -> None:
    tree, arrays = read_parts(kept(name, tmp_path / "a.npz"), "")
    for seed in seeds:
        rng = random.Random(seed)
        found = damaged_tree(tree, rng)
        changed = dict(arrays)
        if rng.random() < 0.3:
            one, other = rng.choice([*arrays]), rng.choice([*arrays])
            changed[one] = arrays[other].astype(rng.choice(("f4", "U3", "i2", "?")))
        text = np.asarray(json.dumps(found))
        np.savez(tmp_path / "b.npz", tree=text, **changed)
        check(tmp_path / "b.npz", seed)


def test_an_array_in_anothers_place_is_refused_or_predicts(tmp_path: Path) -> None:
    tree, arrays = read_parts(kept("cdspp", tmp_path / "a.npz"), "")
    text = np.asarray(json.dumps(tree))
    for one, other in itertools.pairwise([*arrays, *arrays]):
        changed = {**arrays, one: arrays[other].astype(arrays[one].dtype)}
        np.savez(tmp_path / "b.npz", tree=text, **changed)
        check(tmp_path / "b.npz", (one, other))


@attacks(300, 20_000)
def test_a_model_whose_bytes_were_changed_is_refused_or_predicts(
    seeds: range, tmp_path: Path
) -> None:
    content = kept("cdspp", tmp_path / "a.npz").read_bytes()
    for seed in seeds:
        damaged = damaged_bytes(content, random.Random(seed))
        (tmp_path / "b.npz").write_bytes(damaged)
        check(tmp_path / "b.npz", seed)


def member(name: str, header: str, content: bytes = b"") -> tuple[str, bytes]:
    text = f"{header}\n".encode()
    return name, b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def archive(path: Path, *members: tuple[str, bytes], n_zeros: int = 0) -> Path:
    """Write members; the last one is followed by zeros, which packed take no space."""
    how = zipfile.ZIP_DEFLATED if n_zeros else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", how, compresslevel=1) as target:
        for name, content in members:
            with target.open(f"{name}.npy", "w") as stream:
                stream.write(content)
                for _ in range(n_zeros // 10**6 if name == members[-1][0] else 0):
                    stream.write(bytes(10**6))
    return path


def saved(value: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, value)
    return stream.getvalue()


def tree_of(content: Any) -> tuple[str, bytes]:
    head = {"format": "cdspp model", "schema": 1, "content": content}
    return "tree", saved(np.asarray(json.dumps(head)))


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (40000000000,), }"
NESTED = ("tree", saved(np.asarray('{"list": [' * 20_000 + "]}" * 20_000)))
NAMED = tree_of({"array": "array-0"})
ZEROS = 2 * 10**8


@pytest.mark.parametrize(
    ("members", "n_zeros"),
    [
        ([NAMED, member("array-0", HUGE)], 0),
        ([NAMED, member("array-0", HUGE.replace("f8", "U0"))], 0),
        ([NAMED, member("array-0", HUGE.replace("40000000000", "25000000"))], ZEROS),
        ([NESTED], 0),
    ],
    ids=["header", "no letters", "array", "nested"],
)
def test_what_expands_is_refused_before_it_does(
    members: list[tuple[str, bytes]], n_zeros: int, tmp_path: Path
) -> None:
    path = archive(tmp_path / "a.npz", *members, n_zeros=n_zeros)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=r"a\.npz: .*model.*, or damaged"):
        read_model(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 50_000


@pytest.mark.parametrize(
    ("extra", "value"), [("features", (1, 2)), ("columns", 3), ("means", "x")]
)
def test_what_the_command_kept_is_checked_as_well(
    extra: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(tmp_path / "a.npz", PROBLEM.fit(quick("svm-t")), {extra: value})
    (tmp_path / "b.csv").write_text("x0,x1\n1,2\n")
    words = ["--target", str(tmp_path / "b.csv"), "--output", str(tmp_path / "c.csv")]
    assert main(["predict", "--model", str(tmp_path / "a.npz"), *words]) == 2
    assert "damaged model" in capsys.readouterr().err
