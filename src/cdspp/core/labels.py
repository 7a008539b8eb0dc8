"""Labels in files and arrays: their one form, marks of none, and the classes of two."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from pathlib import PurePath
from typing import Any

import numpy as np

from cdspp.core.discovery import nearest
from cdspp.core.errors import DataError
from cdspp.core.wording import aligned, shortened

UNLABELLED = -1
MINUS_ONE = str(UNLABELLED)
# Words that pandas reads as missing, NaT, ? and errors of spreadsheets, in lower case.
MISSING_MARKERS = frozenset(
    ("", "?", "na", "<na>", "n/a", "#na", "#n/a", "#n/a n/a", "none", "null", "nat")
    + ("#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!")
    + ("nan", "-nan", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan")
)
ALIKE = "Classes differ only in capitals, blanks or form"
MOST_CLASSES = 20  # lines of a table of classes
_WHOLE = re.compile(r"\A([+-]?[0-9]+)\.0*\Z")
_MIDNIGHT = re.compile(r"\A([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]00:00:00(\.0+)?\Z")
_BOOLEANS = {word: word.title() for word in ("true", "false")}
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?(e[+-]?\d{1,3})?")


@dataclass(frozen=True)
class LabelRules:
    """The rules of the user for labels.

    `kept` are classes, literally; `unlabelled` words mean no label; `renamed` gives the
    class, or none, for labels of the files.
    """

    kept: frozenset[Any] = frozenset()
    unlabelled: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)


_NO_RULES = LabelRules()
_rules: ContextVar[LabelRules] = ContextVar("rules", default=_NO_RULES)


@contextmanager
def label_rules(
    kept: Iterable[Any] = (),
    unlabelled: Iterable[str] = (),
    renamed: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Add rules for labels inside the ``with`` block."""
    rules = _rules.get()
    token = _rules.set(
        LabelRules(
            rules.kept | {*map(_composed, kept)},
            rules.unlabelled | {*map(_composed, unlabelled)},
            {**rules.renamed, **(renamed or {})},
        )
    )
    try:
        yield
    finally:
        _rules.reset(token)


@contextmanager
def keep_labels(*names: Any) -> Iterator[None]:
    """Read these labels as classes, literally, inside the ``with`` block.

    Parameters
    ----------
    *names : str
        Words that otherwise mark a row as unlabelled, such as "NA", and classes that
        differ from others in capitals or form only.

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
    with label_rules(names):
        yield


def kept_labels() -> frozenset[Any]:
    """Return the labels that are classes, literally."""
    return _rules.get().kept


def _composed(value: Any) -> Any:
    """Return text without outer blanks, each letter in its composed form (NFC)."""
    return (
        unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else value
    )


def as_text(value: Any) -> str:
    """Return a cell as text, equal for equal cells of all formats.

    Booleans are True and False, whole numbers have no point, days no time; a missing
    value is empty. DataError: bytes are not UTF-8.
    """
    if _is_null(value):
        return ""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            problem = f"{value!r} has type bytes and is not UTF-8 ({error.reason})."
            raise DataError(f"{problem} Decode it, or write it again.") from error
    if isinstance(value, str):
        return _MIDNIGHT.sub(r"\1", str(_composed(value)))
    if isinstance(value, (datetime, np.datetime64)):
        return _MIDNIGHT.sub(r"\1", str(value))
    return _WHOLE.sub(r"\1", str(value))


def label_text(value: Any) -> str:
    """Return the one form of a label; it is empty for a missing value."""
    text = as_text(value)
    return text if text in _rules.get().kept else cell_text(text)


def cell_text(cell: Any) -> str:
    """Return a cell as text, in one form for booleans and whole numbers."""
    text = as_text(cell)
    return _BOOLEANS.get(text.lower(), _WHOLE.sub(r"\1", text))


def _is_null(value: Any) -> bool:
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except TypeError:  # NA of pandas: a comparison has no truth value
        return True
    except ValueError:  # an array
        return False


def is_missing(value: Any) -> bool:
    """Return whether a value of an array marks a missing label."""
    if isinstance(value, (str, bytes)):
        text = as_text(value)
        is_kept = text and text in _rules.get().kept
        return text.lower() in MISSING_MARKERS and not is_kept
    is_flag = isinstance(value, (bool, np.bool_))
    return _is_null(value) or (value == UNLABELLED and not is_flag)


def missing_markers(values: Iterable[Any]) -> str:
    """Return the words that mark missing labels, with counts; blanks are left out."""
    texts = (value for value in values if isinstance(value, (str, bytes)))
    markers = Counter(as_text(text) for text in texts if is_missing(text))
    return _counted_words(markers)


def _counted_words(counts: Counter[str]) -> str:
    """List words that mean no label with their numbers; blanks are left out."""
    named = ((name, n) for name, n in counts.most_common() if name and n)
    return " and ".join(f"{n} {name!r}" for name, n in named)


@dataclass(frozen=True)
class LabelColumn:
    """Labels of a file in their one form, empty where a row has none.

    `unlabelled` counts the words that mean no label, `undecided` those -1 that may be a
    class; `all_declared` if the user named all these words; `seen` has all labels
    before any was renamed.
    """

    labels: Sequence[str] = ()
    unlabelled: str = ""
    undecided: int = 0
    all_declared: bool = False
    seen: frozenset[str] = frozenset()


def read_label_column(cells: Iterable[Any]) -> LabelColumn:
    """Return the labels of a file by the rules of the user."""
    rules, texts = _rules.get(), [label_text(cell) for cell in cells]
    none, classes = Counter[str](), dict[str, str]()
    for text, n in Counter(texts).items():
        decided = text in rules.renamed or (text and text in rules.kept)
        is_none = text == MINUS_ONE or text in rules.unlabelled or is_missing(text)
        if is_none and not decided:
            none[text] = n
        classes[text] = "" if text in none else rules.renamed.get(text, text)
    undecided = 0 if MINUS_ONE in rules.unlabelled else none[MINUS_ONE]
    words = _counted_words(none)
    labels = [classes[text] for text in texts]
    named = {old for old, new in rules.renamed.items() if not new}
    declared = {*none} <= rules.unlabelled | named
    return LabelColumn(labels, words, undecided, declared, frozenset(classes))


def require_used(seen: Collection[str], places: Iterable[str]) -> None:
    """Raise DataError if a rule of the user concerns a label that no file has."""
    rules = _rules.get()
    options = {"--keep-label": rules.kept, "--unlabelled": rules.unlabelled}
    if rules.renamed and not rules.renamed.keys() & seen:
        options["--map-labels"] = frozenset([*rules.renamed][:1])
    for option, names in options.items():
        for name in sorted(map(str, names - frozenset(seen))):
            hint = nearest(name, [*filter(None, seen)])
            found = (
                f"the nearest is {hint!r}" if hint else class_list(filter(None, seen))
            )
            fault = f"{option} {name}: no such label in {' or '.join(places)} ({found})"
            raise DataError(f"{fault}. Correct the label, or leave the option out.")


def near_duplicates(classes: Mapping[str, Iterable[Any]]) -> list[str]:
    """Name classes, with their places, that are probably two spellings of one."""
    places: dict[str, dict[str, list[str]]] = {}
    for place, labels in classes.items():
        kept = _rules.get().kept
        for name in sorted({n for n in labels if isinstance(n, str)} - kept):
            places.setdefault(_folded(name), {}).setdefault(name, []).append(place)
    texts = []
    for variants in (group for group in places.values() if len(group) > 1):
        # One letter may have two encodings that look the same.
        normal_forms = {unicodedata.normalize("NFC", name) for name in variants}
        quote = repr if len(normal_forms) == len(variants) else ascii
        forms = (f"{quote(name)} ({' and '.join(at)})" for name, at in variants.items())
        texts.append(", ".join(forms))
    return texts


def _folded(name: str) -> str:
    """Return what all spellings of a class have in common, such as 1 for 01 and 1e0."""
    text = unicodedata.normalize("NFKC", name).casefold()
    # Without invisible letters, such as a zero-width space or a soft hyphen.
    text = " ".join("".join(c for c in text if unicodedata.category(c) != "Cf").split())
    if _NUMBER.fullmatch(text):
        return str(Decimal(text.replace(",", ".")).normalize() + 0)
    return text


def require_distinct(classes: Mapping[str, Iterable[str]]) -> None:
    """Raise DataError if `near_duplicates` finds any in files or folders."""
    if duplicates := near_duplicates(classes):
        remedy = "Spell them alike, rename them by --map-labels FILE, or if both are"
        remedy += " classes, name one with --keep-label (in a study keep_labels)"
        raise DataError(f"{ALIKE}: {'; '.join(duplicates)}. {remedy}.")


def class_table(places: Mapping[str, Iterable[Any]]) -> str:
    """Return lines with each class and its number of rows in each place.

    Classes that a place lacks come first.
    """
    short = [PurePath(place).name for place in places]
    heads = short if len({*short}) == len(short) else [*places]
    counts = dict(zip(heads, map(Counter, places.values()), strict=True))
    names = sorted(set[Any]().union(*counts.values()), key=str)
    names.sort(key=lambda name: all(of[name] for of in counts.values()))
    grid = [["class", *counts]]
    for name in names[:MOST_CLASSES]:
        grid.append([str(name), *(str(of[name] or "-") for of in counts.values())])
    rest = len(names) - MOST_CLASSES
    lines = [*aligned(grid), *([f"and {rest} more"] if rest > 0 else [])]
    return "".join(f"\n    {line}" for line in lines)


def no_common_class(
    classes: Mapping[str, Iterable[Any]], option: str = ""
) -> list[str]:
    """Return a fault per pair of places without a common class, with similar names.

    An `option` renames classes.
    """
    faults = []
    for pair in combinations(classes, 2):
        counts = {place: Counter(classes[place]) for place in pair}
        names, choices = ([*map(str, labels)] for labels in counts.values())
        # 1.0 equals 1; text mixed with numbers is another fault.
        left, right = counts.values()
        if {*left} & {*right} or {*names} & {*choices}:
            continue
        pairs = [(name, nearest(name, choices)) for name in names]
        hints = [f"{name!r} may be {match!r}" for name, match in pairs if match]
        hint = f" ({shortened(hints)})" if hints else ""
        rename = f", or use {option}" if option else ""
        remedy = f"Spell the same class alike in both{hint}{rename}."
        text = f"{pair[0]} and {pair[1]} have no class in common"
        faults.append(f"{text}. {remedy}{class_table(counts)}")
    return faults


def require_common(places: Mapping[str, Iterable[Any]], option: str = "") -> None:
    """Raise DataError if labels by place, target and source, cannot be matched."""
    (target, labels), (source, classes) = counts = [
        (place, Counter(names)) for place, names in places.items()
    ]
    if not labels:
        fault = f"{target}: no row has a label; {source} has the {class_list(classes)}"
        remedy = "Name the label column, or label some rows of each class."
        raise DataError(f"{fault}. {remedy}")
    for fault in no_common_class(dict(counts), option):
        raise DataError(fault)
    if len(labels) == 1:
        context = f"{source} has the {class_list(classes)}"
        raise DataError(one_class(target, next(iter(labels)), context))
    if len(classes) == 1:
        context = f"{target} has the {class_list(labels)}"
        only = str(next(iter(classes)))
        fault = f"all rows are of the class {only!r}; {context}"
        remedy = "A source needs at least two classes; add rows of another."
        raise DataError(f"{source}: {fault}. {remedy}")


def one_class(target: str, label: Any, context: str) -> str:
    """Return fault and remedy if all labelled rows of a target have one class."""
    fault = f"all labelled rows are of the class {str(label)!r}; {context}"
    remedy = "There is nothing to predict with one class; label rows of another."
    return f"{target}: {fault}. {remedy}"


def class_list(labels: Iterable[Any]) -> str:
    """List classes, at most the first five."""
    names = sorted(map(str, labels))
    tail = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{'classes' if len(names) > 1 else 'class'} {', '.join(names[:5])}{tail}"
