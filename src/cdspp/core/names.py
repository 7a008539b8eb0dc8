"""Names that several packages share: settings, controls, roles, fits."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

PathLike = str | os.PathLike[str]
Paths = Sequence[PathLike]

MAIN = "main"  # the setting from which all others differ
REAL = "real"  # the original source
NO_SOURCE = "none"  # no source: the labelled target rows take its place
# The labelled target rows, repeated to the source's class sizes.
SIZE_MATCHED = "none-matched"
WITHOUT_SOURCE = NO_SOURCE, SIZE_MATCHED
PERMUTED_CLASSES = "swapped-classes"  # with two classes no control, but a mirror image
CLASS_NOISE = "class-noise"  # noise around one random centre per class
# These act only on shared columns or pairs; source and target are unchanged.
BRIDGE_STATES = SHUFFLED_COLUMNS, SHUFFLED_PAIRS = "shuffled-columns", "shuffled-pairs"
# Control conditions, ordered by how much of the source remains, most first.
CONTROLS = (
    NO_SOURCE,
    SIZE_MATCHED,
    PERMUTED_CLASSES,
    "permuted-labels",
    CLASS_NOISE,
    "noise",
)
SOURCE_STATES = (*CONTROLS, *BRIDGE_STATES)
SELECTED = "selected"  # the setting with options selected on the labelled rows
AVERAGE = "average"  # takes the place of a task's name
LABELS = "labels"  # parameter of a curve: labelled target samples per class

# Roles of methods in a study: the method under test, and its comparator.
REFERENCE, BASELINE = "reference", "baseline"

# Encodings of text and dates in tables; by default, both are errors.
ERROR, ONE_HOT, PARTS = "error", "one-hot", "parts"
CATEGORIES, DATES = (ERROR, ONE_HOT, "frequency"), (ERROR, "number", PARTS)
SKRUB = "skrub"
VECTORISERS = (SKRUB,)  # libraries that encode text and dates
# Scalings of features before a method receives them.
SCALES = NO_SCALE, UNIT, STANDARDISE, PCA = ("none", "unit", "standardise", "pca")
STANDARDISE_EACH = "standardise-each"  # each domain on its own, even shared columns

MAX_COMPONENTS = 50  # components kept by the scaling `pca`

UNTRAINED = "random"  # network weights drawn at random

# Roles of a sample in a trial.
SOURCE, LABELLED, UNLABELLED_ROLE = "source", "labelled", "unlabelled"


class FitKey(NamedTuple):
    """The identity of a fit, as in the path of its files."""

    benchmark: str
    setting: str
    task: str
    method: str
    block: str


def fit_key(path: PathLike) -> FitKey:
    """Return the key of ``<benchmark>/<setting>/<task>/<method>/<block>.parquet``."""
    return FitKey._make((*Path(path).parent.parts[-4:], Path(path).stem))


def feature_names(path: PathLike) -> tuple[str, str]:
    """Return domain and view of ``<domain>.<view>-<digest>.npz``."""
    domain, _, view = Path(path).stem.partition(".")
    return domain, view.rpartition("-")[0]


def trials_of_block(block: str) -> range:
    """Return the trials of a batch, such as 6 to 10 for ``6-10``."""
    first, last = (int(part) for part in block.split("-"))
    return range(first, last + 1)


class TaskDomains(NamedTuple):
    """The sources of a task, usually one, and its target."""

    sources: tuple[str, ...]
    target: str


def task_domains(task: str) -> TaskDomains:
    """Return the domains of a task.

    >>> task_domains("print+sketch_photo").sources
    ('print', 'sketch')
    """
    sources, _, target = task.partition("_")
    return TaskDomains(tuple(sources.split("+")), target)


def several_sources(task: str) -> bool:
    """Return whether a task such as ``print+sketch_photo`` has several sources."""
    return len(task_domains(task).sources) > 1


def role_domains(tasks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the domains that serve as source and as target of tasks, each once."""
    pairs = [task_domains(task) for task in tasks]
    sources = dict.fromkeys(name for pair in pairs for name in pair.sources)
    targets = dict.fromkeys(pair.target for pair in pairs)
    return {"source": tuple(sources), "target": tuple(targets)}


def within_domain(task: str) -> bool:
    """Return whether a source of a task is also its target, as in ``dslr_dslr``."""
    return task_domains(task).target in task_domains(task).sources
