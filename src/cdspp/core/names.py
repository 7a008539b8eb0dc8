"""Names that several packages share: settings, source states, roles, fits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

PathLike = str | os.PathLike[str]
Paths = Sequence[PathLike]

MAIN = "main"  # the setting from which all others differ
REAL = "real"  # the source as it is given
ALONE = "none"  # the source state without one: the labelled target rows serve
MATCHED = "none-matched"  # those rows repeated to the source's class sizes
WITHOUT_SOURCE = ALONE, MATCHED
SWAPPED = "swapped-classes"  # with two classes only a mirror image: no control
CLASS_NOISE = "class-noise"  # rows around one random centre per class, for a source
# These act on the bridge only; source and target stay as they are.
BRIDGE_STATES = SHUFFLED_COLUMNS, SHUFFLED_PAIRS = "shuffled-columns", "shuffled-pairs"
# Control conditions, in the order in which less of the source remains.
CONTROLS = (ALONE, MATCHED, SWAPPED, "permuted-labels", CLASS_NOISE, "noise")
SOURCE_STATES = (*CONTROLS, *BRIDGE_STATES)
SELECTED = "selected"  # the setting with options selected on the labelled rows
AVERAGE = "average"  # over the tasks of a benchmark, in place of a task's name
LABELS = "labels"  # of a curve: the number of labelled target samples per class

# Roles of methods in a study: the one tested, and the one it is compared with.
REFERENCE, BASELINE = "reference", "baseline"

# How text and dates in tables become numbers; by default they are an error.
CATEGORIES = ERROR, ONE_HOT, _ = ("error", "one-hot", "frequency")
DATES = ERROR, _, PARTS = ("error", "number", "parts")
SKRUB = "skrub"
VECTORISERS = (SKRUB,)  # libraries that encode both
# How features are scaled before a method sees them.
SCALES = NO_SCALE, UNIT, STANDARDISE, PCA = ("none", "unit", "standardise", "pca")
STANDARDISE_EACH = "standardise-each"  # of two domains, also where they share columns

MOST_COMPONENTS = 50  # that the scale of principal components keeps

UNTRAINED = "random"  # weights of a network that are drawn

# What a sample is in a trial.
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


def trials_of_block(block: str) -> range:
    """Return the trials of a block, for instance 6 to 10 of ``6-10``."""
    first, last = (int(part) for part in block.split("-"))
    return range(first, last + 1)


class TaskDomains(NamedTuple):
    """The sources of a task, mostly one, and its target."""

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
    each = [task_domains(task) for task in tasks]
    sources = dict.fromkeys(name for domains in each for name in domains.sources)
    targets = dict.fromkeys(domains.target for domains in each)
    return {"source": tuple(sources), "target": tuple(targets)}


def within_domain(task: str) -> bool:
    """Return whether a source of a task is its target, as in ``dslr_dslr``."""
    return task_domains(task).target in task_domains(task).sources
