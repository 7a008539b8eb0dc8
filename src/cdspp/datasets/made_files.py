"""Files of samples, made where one published file holds many: texts, and rows.

The forms of `make`, of a resource in the catalogue, are

``format: lists``
    `file` is JSON: lists of ``[text, class]``, of which `lists` names those to use.
``format: columns``
    `file` names a file a domain, a row a line: numbers separated by commas, ``?`` where
    one is missing. They are `columns` and, last, the code of the class; codes above the
    last class are the last class, too. In the columns `no_zero`, a zero is a missing
    number.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core.faults import write_errors
from cdspp.core.files import atomic, read_json
from cdspp.datasets.base import ROWS_NAME
from cdspp.datasets.catalogue import unfit

Entry = Mapping[str, Any]
Paths = dict[str, list[str]]

TEXTS, BOTH = "texts", "paired"
MOST_MISSING = 0.5  # of a domain's rows; a column where more lack a number is left out


def make_files(how: Entry, entry: Entry, folder: Path, work: Path) -> Paths:
    """Write the files of the samples from those that were fetched into `folder`.

    `how` is `make` in the `entry`, `work` a folder for files that are not whole yet.
    Return paths by domain: of texts in the published order, or of the one file of rows.
    """
    if how["format"] == "lists":
        return _make_texts(how, entry, folder, work)
    return {domain: [_make_rows(how, entry, folder, domain)] for domain in how["file"]}


def _make_texts(how: Entry, entry: Entry, folder: Path, work: Path) -> Paths:
    """Write ``texts/<domain>/<number>.txt``, those of pairs once, as ``paired``."""
    path = folder / how["file"]
    dealt = _dealt(path, _by_class(path, how["lists"], entry["classes"]), entry)
    counts = Counter(chain.from_iterable(dealt.values()))
    if repeated := [text for text, n in counts.items() if n > 1]:
        raise unfit(path, f"the text {repeated[0]!r} is there more than once")
    paths = {}
    with write_errors(folder / TEXTS):
        for part, texts in dealt.items():
            (work / TEXTS / part).mkdir(parents=True)
            paths[part] = [f"{TEXTS}/{part}/{k:05d}.txt" for k in range(len(texts))]
            for name, text in zip(paths[part], texts, strict=True):
                (work / name).write_text(text + "\n", encoding="utf-8")
        shutil.rmtree(folder / TEXTS, ignore_errors=True)
        (work / TEXTS).rename(folder / TEXTS)
    both = paths.pop(BOTH)
    return {domain: own + both for domain, own in paths.items()}


def _by_class(path: Path, lists: Sequence[str], classes: Sequence[str]) -> Paths:
    texts: dict[str, list[str]] = {name: [] for name in classes}
    content = read_json(path)
    try:
        for text, label in chain.from_iterable(content[name] for name in lists):
            texts[label].append(str(text))
    except (LookupError, TypeError, ValueError) as error:
        expected = f"lists {', '.join(lists)} of texts with known classes"
        raise unfit(path, f"expected {expected}, got {error!r}") from error
    return texts


def _dealt(path: Path, texts: Mapping[str, Sequence[str]], entry: Entry) -> Paths:
    """Give the first texts of each class to the pairs, others to domains in turn."""
    sizes, n_paired = entry["class_sizes"], entry.get("paired", 0)
    dealt: dict[str, list[str]] = {name: [] for name in (*sizes, BOTH)}
    for number, (label, found) in enumerate(texts.items()):
        n_both = n_paired // len(texts) + (number < n_paired % len(texts))
        dealt[BOTH] += found[:n_both]
        for side, (domain, wanted) in enumerate(sizes.items()):
            own = found[n_both + side :: len(sizes)][: wanted[number]]
            if len(own) < wanted[number]:
                expected = f"expected {wanted[number]} of class {label} for {domain}"
                raise unfit(path, f"{expected}, got {len(own)}")
            dealt[domain] += own
    return dealt


def _make_rows(how: Entry, entry: Entry, folder: Path, domain: str) -> str:
    """Write the rows of a domain, class by class; means stand for missing numbers."""
    path, names = folder / how["file"][domain], np.array(how["columns"], np.str_)
    rows = np.array(list(_numbers(path, len(names) + 1)))
    X, codes = rows[:, :-1], np.minimum(rows[:, -1], len(entry["classes"]) - 1)
    found = [int(np.sum(codes == code)) for code in range(len(entry["classes"]))]
    expected = list(entry["class_sizes"][domain])
    if found != expected or len(rows) != sum(found):
        sizes = f"class sizes {found} in {len(rows)} rows"
        raise unfit(path, f"expected class sizes {expected}, got {sizes}")
    X[(X == 0) & np.isin(names, how["no_zero"])] = np.nan
    kept = np.isnan(X).mean(axis=0) <= MOST_MISSING
    X = X[np.argsort(codes, kind="stable")][:, kept]
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    with atomic(folder / domain / ROWS_NAME) as temporary:
        np.savez(temporary, X=X, features=names[kept])
    return f"{domain}/{ROWS_NAME}"


def _numbers(path: Path, width: int) -> Iterator[list[float]]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        cells = line.split(",")
        try:
            values = [np.nan if cell == "?" else float(cell) for cell in cells]
        except ValueError as error:
            raise unfit(path, f"line {number}: not a number ({error})") from error
        if len(values) != width:
            expected = f"line {number}: expected {width} numbers"
            raise unfit(path, f"{expected}, got {len(values)}")
        yield values
