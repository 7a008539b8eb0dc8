"""Labels in files and arrays: missing-value markers and near-duplicates."""

import difflib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import combinations
from typing import Any

import numpy as np

from cdspp.core.errors import DataError

UNLABELLED = -1
# Words that pandas reads as missing, NaT, ? and errors of spreadsheets, in lower case.
MISSING_MARKERS = frozenset(
    ("", "?", "na", "<na>", "n/a", "#na", "#n/a", "#n/a n/a", "none", "null", "nat")
    + ("#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!")
    + ("nan", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan")
)
ALIKE = "Classes differ only in capitals, blanks or the form of letters"

_literal: ContextVar[frozenset[Any]] = ContextVar("literal", default=frozenset())


@contextmanager
def keep_labels(*names: Any) -> Iterator[None]:
    """Read these labels as classes, literally, inside the ``with`` block.

    Parameters
    ----------
    *names : str
        Words that otherwise mark a row as unlabelled, such as "NA", and classes that
        differ from others in capitals only.

    Notes
    -----
    The setting applies to the thread that runs the block, not to processes it starts.

    Examples
    --------
    >>> import cdspp
    >>> from cdspp.methods.labels import read_labels
    >>> with cdspp.keep_labels("None"):
    ...     print(*read_labels(["None", "scratch", ""])[0])
    None scratch
    """
    token = _literal.set(_literal.get() | {*names})
    try:
        yield
    finally:
        _literal.reset(token)


def as_text(value: Any) -> str:
    """Return a label or identifier as text; DataError for bytes that are not UTF-8."""
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError as error:
        problem = f"{value!r} has type bytes and is not UTF-8 ({error.reason})."
        raise DataError(f"{problem} Decode it, or write it again.") from error


def is_missing(value: Any) -> bool:
    """Return whether a value of a file or an array marks a missing label."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, (str, bytes)):
        text = as_text(value).strip()
        return text.lower() in MISSING_MARKERS and not (text and text in _literal.get())
    try:
        is_flag = isinstance(value, (bool, np.bool_))
        return bool(value != value) or (value == UNLABELLED and not is_flag)
    except TypeError:  # NA of pandas: a comparison has no truth value
        return True


def missing_markers(values: Iterable[Any]) -> str:
    """Return the words that mark missing labels, with counts; blanks are left out."""
    texts = (value for value in values if isinstance(value, (str, bytes)))
    markers = Counter(as_text(text).strip() for text in texts if is_missing(text))
    return " and ".join(f"{n} {name!r}" for name, n in markers.most_common() if name)


def near_duplicates(classes: Mapping[str, Iterable[Any]]) -> list[str]:
    """Name classes, with their places, that are probably two spellings of one."""
    places: dict[str, dict[str, list[str]]] = {}
    for place, labels in classes.items():
        for name in sorted({n for n in labels if isinstance(n, str)} - _literal.get()):
            folded = unicodedata.normalize("NFKC", name).casefold()
            # Without invisible letters, such as a zero-width space or a soft hyphen.
            folded = "".join(c for c in folded if unicodedata.category(c) != "Cf")
            variants = places.setdefault(" ".join(folded.split()), {})
            variants.setdefault(name, []).append(place)
    texts = []
    for variants in (group for group in places.values() if len(group) > 1):
        # One letter may have two encodings that look the same.
        normal_forms = {unicodedata.normalize("NFC", name) for name in variants}
        quote = repr if len(normal_forms) == len(variants) else ascii
        forms = (f"{quote(name)} ({' and '.join(at)})" for name, at in variants.items())
        texts.append(", ".join(forms))
    return texts


def require_distinct(classes: Mapping[str, Iterable[str]]) -> None:
    """Raise DataError if `near_duplicates` finds any in files or folders."""
    if duplicates := near_duplicates(classes):
        options = "name one with --keep-label, in a study with keep_labels"
        remedy = f"Spell them alike, or if both are classes, {options}."
        raise DataError(f"{ALIKE}: {'; '.join(duplicates)}. {remedy}")


def no_common_class(classes: Mapping[str, Iterable[Any]]) -> list[str]:
    """Return a fault per pair of places without a common class, with similar names."""
    faults = []
    for (left, left_labels), (right, right_labels) in combinations(classes.items(), 2):
        names, choices = [*map(str, left_labels)], [*map(str, right_labels)]
        # 1.0 equals 1; text mixed with numbers is another fault.
        if {*left_labels} & {*right_labels} or {*names} & {*choices}:
            continue
        pairs = [(name, nearest(name, choices)) for name in names]
        hint = ", ".join(f"{name!r} may be {match!r}" for name, match in pairs if match)
        fault = f"{left} has the {class_list(names)}, {right} the {class_list(choices)}"
        advice = f"{hint}: spell" if hint else "Spell"
        remedy = f"{advice} the same class alike in both."
        faults.append(f"no class in common: {fault}. {remedy}")
    return faults


def require_common(places: Mapping[str, Iterable[Any]]) -> None:
    """Raise DataError if labels by place, target and source, cannot be matched."""
    pairs = ((place, sorted({*names}, key=str)) for place, names in places.items())
    (target, labels), (source, classes) = pairs
    if not labels:
        fault = f"{target}: no row has a label; {source} has the {class_list(classes)}"
        remedy = "Name the label column, or label some rows of each class."
        raise DataError(f"{fault}. {remedy}")
    for fault in no_common_class({target: labels, source: classes}):
        raise DataError(fault)
    if len(labels) == 1:
        context = f"{source} has the {class_list(classes)}"
        raise DataError(one_class(target, labels[0], context))
    if len(classes) == 1:
        context = f"{target} has the {class_list(labels)}"
        fault = f"all rows are of the class {str(classes[0])!r}; {context}"
        remedy = "A source needs at least two classes; add rows of another."
        raise DataError(f"{source}: {fault}. {remedy}")


def one_class(target: str, label: Any, context: str) -> str:
    """Return fault and remedy if all labelled rows of a target have one class."""
    fault = f"all labelled rows are of the class {str(label)!r}; {context}"
    remedy = "There is nothing to predict with one class; label rows of another."
    return f"{target}: {fault}. {remedy}"


def class_list(labels: Iterable[Any]) -> str:
    """List classes, at most the first five."""
    names = [*map(str, labels)]
    tail = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{'classes' if len(names) > 1 else 'class'} {', '.join(names[:5])}{tail}"


def nearest(name: str, choices: Sequence[str]) -> str:
    """Return the most similar name, by its beginning or its letters, if any."""
    if name.isdecimal():
        return ""
    folded = {choice.casefold(): choice for choice in choices}
    by_prefix = [choice for choice in folded if choice.startswith(name.casefold())]
    matches = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[(by_prefix + matches)[0]] if by_prefix or matches else ""
