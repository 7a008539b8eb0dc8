"""The candidates of the vote: fixed before any row is read, one line for each kind."""

from collections.abc import Collection

from cdspp.methods import method_class
from cdspp.methods.bridge import PAIRS, SHARED

TARGET_ONLY = "target-only"  # the reference of every candidate
LDA = "shrunken-lda"  # fails unless labelled rows outnumber classes
WITHOUT_SOURCE = (
    "logistic-regression",
    LDA,
    "random-forest",
    "extra-trees",
    TARGET_ONLY,
)
WITH_LABELS = ("cdspp",)
BY_BRIDGE = {
    SHARED: (
        *("shared-columns-plus", "easy-adapt", "pooled-logistic-regression"),
        *("pooled-random-forest", "stacked-logistic-regression"),
    ),
    PAIRS: ("paired-map-plus",),
}
WITH_ANY_BRIDGE = ("cdspp-bridge",)
# Candidates that do not vote, with equal weights, if no class has two labels.
NO_VOTE_UNTESTED = (
    *("logistic-regression", "random-forest", "extra-trees"),
    "pooled-random-forest",
)


def default_candidates(
    bridge: Collection[str], n_labelled: int, n_classes: int
) -> list[str]:
    """Return the candidates for a kind of source, and for labelled rows of a fit.

    >>> default_candidates([PAIRS], 6, 6)[-3:]
    ['cdspp', 'paired-map-plus', 'cdspp-bridge']
    """
    names = [*WITHOUT_SOURCE, *WITH_LABELS]
    for kind in bridge:
        names += BY_BRIDGE[kind]
    names += WITH_ANY_BRIDGE if bridge else ()
    return [name for name in names if name != LDA or n_labelled > n_classes]


def information(method: str, bridge: Collection[str]) -> str:
    """Return what a method uses of the source, in words."""
    cls = method_class(method)
    if not cls.uses_source:
        return "no source"
    kinds = [kind.replace("_", " ") for kind in bridge if kind in cls.bridges]
    return " and ".join(kinds) or "source labels"
