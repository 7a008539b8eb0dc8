"""YAML files that cannot be read are named in one line, with the line of the fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.core.errors import ConfigError
from cdspp.core.yaml_files import read_yaml

FAULTS = [
    (b"a: b: c\n", "mine.yaml, line 1: mapping.*allowed.* Indent with"),
    (b"a:\n\tb: 1\n", r"mine.yaml, line 2: .*'\\t' .*token"),
    (b"a: [1\nb: 2\n", "line 2: .*parsing.*sequence, expected ',' or ']'"),
    (b"a: 1\n--- \nb: 2\n", "line 2: .*single.*stream, but f"),
    (b"a: !!python/object/apply:os.abort []\n", "line 1: .*constr"),
    (
        b"a: 1\nb: {c: 1, d: 2,\n  c: 3}\n",
        "line 3: the key 'c' .*twice, first i",
    ),
    (b"a: &a [*a]\n", "anchors expand.* 1000000 values"),
    (b"a: " + 1500 * b"[" + 1500 * b"]", "nested.*deep"),
    (b"a: \xff\n", "text file.* UTF-8"),
    (b"? [a]\n: 1\n", "line 1: .*constructing.*mapping, .*unhashable key"),
    (b"a: 1\nb: {<<: 2}\n", "line 2: <<: expected a mapping or a list of them, got a"),
    (b"a:\n  target: 010\n", "line 2: YAML reads 010 as a number of base 8 or 60"),
]


@pytest.mark.parametrize(("content", "message"), FAULTS)
def test_a_fault_is_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        read_yaml(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_anchors_that_grow_are_refused_before_they_are_built(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (tmp_path / "mine.yaml").write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="anchors expand"):
        read_yaml(tmp_path / "mine.yaml")


MERGES = """
a: &a {x: 1, y: 2}
b: &b {<<: *a, y: 3}
c: {<<: *b}
d: {<<: *b, x: 4}
e: {<<: [*b, {y: 5, z: 6}]}
f: [{w: 7, <<: [{x: 8}, *b]}]
"""


def test_a_merge_means_the_same_with_every_version_of_pyyaml(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(MERGES)
    for own in (False, True):
        found = read_yaml(tmp_path / "mine.yaml", own=own)
        assert found["b"] == found["c"] == {"x": 1, "y": 3}
        assert found["d"] == {"x": 4, "y": 3}
        assert found["e"] == {"x": 1, "y": 3, "z": 6}
        assert found["f"] == [{"x": 8, "y": 3, "w": 7}]


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("# nothing yet\n")
    assert read_yaml(tmp_path / "mine.yaml") is None
