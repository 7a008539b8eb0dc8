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
# Words that pandas reads as missing, NaT and the question mark; in lower case.
MISSING_MARKERS = frozenset(
    ("", "?", "na", "<na>", "n/a", "#na", "#n/a", "#n/a n/a", "none", "null", "nat")
    + ("#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!")
    + ("nan", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan")
)
ALIKE = "Classes differ only in capitals, blanks or the form of letters"

_kept: ContextVar[frozenset[Any]] = ContextVar("kept", default=frozenset())


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
    token = _kept.set(_kept.get() | {*names})
    try:
        yield
    finally:
        _kept.reset(token)


def as_text(value: Any) -> str:
    """Return a label or identifier as text; DataError for bytes that are not UTF-8."""
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError as error:
        wrong = f"{value!r} has type bytes and is not UTF-8 ({error.reason})."
        raise DataError(f"{wrong} Decode it, or write it again.") from error


def is_missing(value: Any) -> bool:
    """Return whether a value of a file or an array marks a missing label."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, (str, bytes)):
        text = as_text(value).strip()
        return text.lower() in MISSING_MARKERS and (not text or text not in _kept.get())
    try:
        is_flag = isinstance(value, (bool, np.bool_))
        return bool(value != value) or (value == UNLABELLED and not is_flag)
    except TypeError:  # NA of pandas: a comparison has no truth value
        return True


def missing_markers(values: Iterable[Any]) -> str:
    """Return the words that mark missing labels, with counts; blanks are left out."""
    texts = (value for value in values if isinstance(value, (str, bytes)))
    words = Counter(as_text(text).strip() for text in texts if is_missing(text))
    return " and ".join(f"{n} {w!r}" for w, n in words.most_common() if w)


def near_duplicates(classes: Mapping[str, Iterable[Any]]) -> list[str]:
    """Name classes, with their places, that are probably two spellings of one."""
    places: dict[str, dict[str, list[str]]] = {}
    for where, labels in classes.items():
        for name in sorted({n for n in labels if isinstance(n, str)} - _kept.get()):
            folded = unicodedata.normalize("NFKC", name).casefold()
            # Without invisible letters, such as a zero-width space or a soft hyphen.
            folded = "".join(c for c in folded if unicodedata.category(c) != "Cf")
            same = places.setdefault(" ".join(folded.split()), {})
            same.setdefault(name, []).append(where)
    texts = []
    for same in (each for each in places.values() if len(each) > 1):
        # One letter may have two encodings that look the same.
        seen = {unicodedata.normalize("NFC", name) for name in same}
        show = repr if len(seen) == len(same) else ascii
        named = (f"{show(name)} ({' and '.join(at)})" for name, at in same.items())
        texts.append(", ".join(named))
    return texts


def require_distinct(classes: Mapping[str, Iterable[str]]) -> None:
    """Raise DataError if `near_duplicates` finds any in files or folders."""
    if found := near_duplicates(classes):
        other = "name one with --keep-label, in a study with keep_labels"
        remedy = f"Spell them alike, or if both are classes, {other}."
        raise DataError(f"{ALIKE}: {'; '.join(found)}. {remedy}")


def no_common_class(classes: Mapping[str, Iterable[Any]]) -> list[str]:
    """Return a fault per pair of places without a common class, with similar names."""
    found = []
    for (here, labels), (there, others) in combinations(classes.items(), 2):
        ours, theirs = [*map(str, labels)], [*map(str, others)]
        # 1.0 equals 1; text mixed with numbers is another fault.
        if {*labels} & {*others} or {*ours} & {*theirs}:
            continue
        pairs = [(name, nearest(name, theirs)) for name in ours]
        near = ", ".join(f"{name!r} may be {other!r}" for name, other in pairs if other)
        fault = f"{here} has the {class_list(ours)}, {there} the {class_list(theirs)}"
        spell = f"{near}: spell" if near else "Spell"
        remedy = f"{spell} the same class alike in both."
        found.append(f"no class in common: {fault}. {remedy}")
    return found


def require_common(classes: Mapping[str, Iterable[Any]]) -> None:
    """Raise DataError if labels by place, target and source, cannot be matched."""
    both = ((where, sorted({*labels}, key=str)) for where, labels in classes.items())
    (target, ours), (source, theirs) = both
    if not ours:
        fault = f"{target}: no row has a label, {source} has the {class_list(theirs)}"
        remedy = "Name the label column, or label some rows of each class."
        raise DataError(f"{fault}. {remedy}")
    for fault in no_common_class({target: ours, source: theirs}):
        raise DataError(fault)
    if len(ours) == 1:
        known = f"{source} has the {class_list(theirs)}"
        raise DataError(one_class(target, ours[0], known))
    if len(theirs) == 1:
        known = f"{target} has the {class_list(ours)}"
        fault = f"all rows are of the class {str(theirs[0])!r}, {known}"
        remedy = "A source needs at least two classes; add rows of another."
        raise DataError(f"{source}: {fault}. {remedy}")


def one_class(target: str, label: Any, known: str) -> str:
    """Return fault and remedy if all labelled rows of a target have one class."""
    fault = f"all labelled rows are of the class {str(label)!r}, {known}"
    remedy = "There is nothing to predict with one class; label rows of another."
    return f"{target}: {fault}. {remedy}"


def class_list(labels: Iterable[Any]) -> str:
    """List classes, at most the first five."""
    names = [*map(str, labels)]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{'classes' if len(names) > 1 else 'class'} {', '.join(names[:5])}{more}"


def nearest(name: str, others: Sequence[str]) -> str:
    """Return the most similar name, by its beginning or its letters, if any."""
    if name.isdecimal():
        return ""
    folded = {other.casefold(): other for other in others}
    opening = [o for o in folded if o.startswith(name.casefold())]
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[(opening + near)[0]] if opening or near else ""
