"""The vote to deploy on a target with few labels, with and without a source."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cdspp.analysis import pool, vote
from cdspp.analysis.ballot import Ballot
from cdspp.analysis.comparison import Added, Comparison
from cdspp.analysis.hold_outs import (
    HoldOuts,
    Problem,
    all_folds,
)
from cdspp.analysis.pool import TARGET_ONLY
from cdspp.analysis.rows_to_label import digests, read_labelled, rows_to_label
from cdspp.analysis.summary import MOST_COLLAPSED, Floats
from cdspp.analysis.unlabelled_target import source_as_target
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.analysis.vote import SourceGain
from cdspp.core import names
from cdspp.core.errors import OF_ONE_FIT, DataError, UnitWarning
from cdspp.core.linalg import Int
from cdspp.core.wording import counted, in_points
from cdspp.methods import make_seeded, method_class, register_method
from cdspp.methods.base import SourceDomain
from cdspp.methods.bridge import SHARED
from cdspp.methods.cost import fit_cost
from cdspp.methods.vote import Vote, with_fits

__all__ = ["compare", "scale_to_try"]

OTHER_SCALE = 0.05  # shrunk gain of the reference with another scale, to name it

Labelled: TypeAlias = pd.DataFrame | Sequence[pd.DataFrame] | None


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    source: SourceDomain | None = None,
    methods: Sequence[Any] | None = None,
    labelled: Labelled = None,
    repeats: int = 8,
    test_share: float = 1 / 5,
    scale: str = "standardise",
    max_rows: int = 2000,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Return the vote to deploy on a target, how right it is, and the source's gain.

    Parameters
    ----------
    X : array-like of shape (n_target, n_features)
        Target rows.
    y : array-like of shape (n_target,)
        Their labels, as in `fit`. If no class has two labels, nothing is tested and all
        candidates have the same weight. If no row has a label, shared columns or paired
        rows of the source are needed, and its labels are used.
    source : SourceDomain, optional
        Labelled source rows, optionally with shared columns or paired rows, which add
        candidates that use them.
    methods : sequence, optional
        Further candidates: identifiers, class paths such as ``"mine:MyMethod"``,
        classes or instances. They vote unless the accuracy of the vote would fall.
        Transductive methods cannot predict held-out rows.
    labelled : DataFrame or sequence of DataFrame, optional
        `rows_to_label` of earlier answers on the same tables, with labels filled in.
        They join the fits on all labelled rows, but are never held out.
    repeats : int, default=8
        Number of stratified hold-outs; at least `MIN_TRIALS`.
    test_share : float, default=1/5
        Share of the labelled rows of each class to hold out, at least one row. All rows
        of a class are held out in turn, except the only row of a class.
    scale : {"none", "unit", "standardise", "standardise-each", "pca"}, \
default="standardise"
        Scaling of the features (`cdspp.core.scaling.fit_scaling`): of the source once,
        of the target by the rows of each fit, of shared columns as in the source, or
        with "standardise-each" by each domain's own rows. Columns of tables have
        different units, and unscaled fits may be degenerate.
    max_rows : int, default=2000
        Maximum number of unlabelled target rows in a fit, and roughly of labelled ones
        and source rows; each repeat draws its own subsample.
    seed : int, default=0
        Seed of hold-outs, methods and rows to label.
    progress : callable, optional
        Receives a line of text before the fits of each method, with the expected time.

    Returns
    -------
    Comparison
        The vote, its accuracy, the gain of the source, and the rows to label next.

    Raises
    ------
    ConfigError
        A method or a scale is unknown.
    DataError
        A method is transductive or needs columns or pairs that the source lacks,
        `repeats` is too small, `labelled` belongs to other tables, or nothing can be
        learnt.

    Notes
    -----
    The rule and its constants are in `cdspp.analysis.vote`, the candidates in
    `cdspp.analysis.pool`. Each candidate takes `repeats` fits and one on all labelled
    rows, of which the estimator is made when it is first read, or of further fits if
    there are more than `max_rows`.
    """
    tables = Problem.of(X, y, source, scale)
    files = [labelled] if isinstance(labelled, pd.DataFrame) else [*(labelled or ())]
    given = _Given.of(tables, files)
    if not given.checked:
        each = scale == names.STANDARDISE_EACH
        unscaled = Problem.of(X, y, source, names.NO_SCALE)
        given = given.from_source(source_as_target(unscaled, each_scaled=each))
    n_folds = repeats if given.tested else 0
    folds = all_folds(given.problem, n_folds, test_share, max_rows, seed)
    runs = HoldOuts(given.problem, folds, scale, max_rows, seed)
    default = _voters(runs)
    extra = [register_method(method) for method in methods or ()]
    candidates = [*dict.fromkeys([*default, *extra])]
    _check(candidates, repeats, given.problem)
    ballot, compared = _ballots(runs, n_folds, default, candidates, progress)
    table = _candidates(runs, ballot, compared)
    if given.n_source:
        table["information"] = "source labels"
    notes = *runs.notes(), *_degenerate_note(runs, candidates), *_scale_note(runs)
    return replace(
        _answer(runs, ballot, given, table),
        note="; ".join(notes),
        fit=partial(_fit_vote, runs, ballot.weights, given, X, source),
    )


class _Labels(NamedTuple):
    """Positions and class codes of rows that were labelled on purpose."""

    places: Int
    codes: Int


@dataclass(frozen=True, eq=False)
class _Given:
    """The rows of the fits, and labels that were added on purpose.

    If the target has no labels, the `n_source` first rows are the source's.
    """

    problem: Problem
    added: _Labels
    made_of: str
    n_source: int = 0

    @classmethod
    def of(cls, tables: Problem, files: Sequence[pd.DataFrame]) -> Self:
        """Return tables with labels on purpose.

        If there are no others, these are the first labels, of two classes or more.
        """
        made_of = digests(tables)
        added = _Labels(*read_labelled(files, tables, made_of))
        if len(tables.labelled) or len(np.unique(added.codes)) < 2:
            return cls(tables, added, made_of)
        none = _Labels(added.places[:0], added.codes[:0])
        return cls(tables.with_labels(*added), none, made_of)

    def from_source(self, problem: Problem) -> Self:
        """Return the same with the source's rows in front of the target's."""
        n_source = len(problem.X) - len(self.problem.X)
        places = self.added.places + n_source
        return replace(
            self,
            problem=problem,
            added=_Labels(places, self.added.codes),
            n_source=n_source,
        )

    @property
    def checked(self) -> bool:
        """True if the target has labels."""
        return not self.n_source and len(self.problem.labelled) > 0

    @property
    def tested(self) -> bool:
        """True if rows can be held out: a class has two labels or more."""
        return self.checked and int(self.problem.class_sizes.max()) > 1


def candidates_of(runs: HoldOuts) -> list[str]:
    """Return the candidates for the tables and the smallest fit of some hold-outs."""
    problem = runs.problem
    fits = [len(np.concatenate(train)) for train, _ in runs.folds]
    n_labelled = min(fits, default=len(problem.labelled))
    n_classes = int((problem.class_sizes > 0).sum())
    found = pool.default_candidates(problem.bridge, n_labelled, n_classes)
    if problem.source is None:
        return [name for name in found if not method_class(name).uses_source]
    return found


def _voters(runs: HoldOuts) -> list[str]:
    single = runs.problem.class_sizes.max() == 1
    left_out = pool.NO_VOTE_UNTESTED if single else ()
    return [name for name in candidates_of(runs) if name not in left_out]


def _ballots(
    runs: HoldOuts,
    repeats: int,
    default: Sequence[str],
    candidates: Sequence[str],
    progress: Callable[[str], None],
) -> tuple[Ballot, Ballot]:
    """Return the ballot of the candidates that vote, and that of all that fitted."""
    problem = runs.problem
    predicted, transduction = dict[str, Int](), dict[str, Int]()
    for name in candidates:
        progress(_forecast(runs, name))
        held_out, labels = runs.predicted(name), runs.transduction(problem, name)
        if labels is not None and name not in runs.failures:
            predicted[name], transduction[name] = held_out, labels
    voters = [name for name in default if name in transduction]
    if not voters:
        reasons = "; ".join(f"{name}: {text}" for name, text in runs.failures.items())
        raise DataError(f"compare: every candidate failed ({reasons}).")
    codes, n_classes = problem.codes[problem.labelled], len(problem.classes)
    compared = Ballot(predicted, transduction, codes, n_classes, repeats)
    others = [name for name in transduction if name not in default]
    return compared.admit(voters, others), compared


def _answer(
    runs: HoldOuts, ballot: Ballot, given: _Given, candidates: pd.DataFrame
) -> Comparison:
    problem, (places, labels) = runs.problem, given.added
    truth = np.full(len(problem.unlabelled), vote.NOT_TESTED)
    truth[np.searchsorted(problem.unlabelled, places)] = labels
    known = truth != vote.NOT_TESTED
    right = ballot.labels[known] == truth[known]
    final = problem.with_labels(places, labels)
    codes, shares = vote_again(runs, ballot, final, known)
    changed = ballot.labels[~known] != codes
    rows = final.unlabelled - given.n_source
    parts, bounds = (ballot.right, ballot.codes), vote.bounds_of(right, len(truth))
    estimate = vote.accuracy(*parts, ballot.class_shares, bounds)
    sizes = problem.class_sizes
    return Comparison(
        accuracy=vote.of_the_rest(estimate, right, len(truth)),
        balanced_accuracy=vote.accuracy(*parts, np.ones(len(problem.classes))),
        source_gain=_source_gain(ballot, truth),
        rows_to_label=rows_to_label(problem, rows, shares, given.made_of, runs.seed),
        n_labelled=0 if given.n_source else len(problem.labelled),
        n_unlabelled=len(rows),
        fewest=0 if given.n_source else int(sizes[sizes > 0].min()),
        repeats=ballot.repeats,
        untested=tuple(map(str, problem.classes[sizes == 1])) if runs.folds else (),
        added=Added(len(places), int(right.sum()), int(changed.sum())),
        candidates=candidates,
    )


def vote_again(
    runs: HoldOuts, ballot: Ballot, final: Problem, known: NDArray[np.bool_]
) -> tuple[Int, Floats]:
    """Return the vote on the rows that `final` leaves unlabelled, and its shares.

    `known` says which unlabelled rows of the ballot are labelled in `final`. The
    weights stay: such rows are never held out. A member that fails keeps its labels.
    """
    transduction = ballot.transduction
    if known.any():
        again = {name: runs.transduction(final, name) for name in ballot.weights}
        transduction = {
            name: transduction[name][~known] if codes is None else codes
            for name, codes in again.items()
        }
    return ballot.label(transduction)


def _fit_vote(
    runs: HoldOuts,
    weights: Mapping[str, float],
    given: _Given,
    X: ArrayLike,
    source: SourceDomain | None,
) -> Vote:
    """Return the vote, fitted on all labelled rows, by the fits that are known."""
    problem, n_source = given.problem.with_labels(*given.added), given.n_source
    y = np.full(len(problem.codes), None)
    y[problem.labelled] = problem.classes[problem.codes[problem.labelled]]
    members = [(name, make_seeded(name, runs.seed_of(name))) for name in weights]
    model = Vote(members, weights=[*weights.values()], scale=runs.scale)
    model = with_fits(model, runs.final(problem))
    with warnings.catch_warnings():
        for category in (*OF_ONE_FIT, UnitWarning):  # `compare` reported them
            warnings.simplefilter("ignore", category)
        if not n_source:
            return model.fit(X, y, source=source)
        model.fit(problem.X, y)
    # Its rows are those of the target, without the source's in front of them.
    model.transduction_ = model.transduction_[n_source:]
    model.votes_ = model.votes_[n_source:]
    return model


def _source_gain(ballot: Ballot, truth: Int) -> SourceGain | None:
    """Return the gain of the vote over that of its members without the source."""
    members = [name for name in ballot.weights if not method_class(name).uses_source]
    if not members or len(members) == len(ballot.weights):
        return None
    return ballot.gain_over(members, truth)


def _candidates(runs: HoldOuts, ballot: Ballot, compared: Ballot) -> pd.DataFrame:
    rows = []
    for method, correct in compared.correct.items():
        means = vote.row_means(correct)
        parts = means, compared.codes, ballot.class_shares
        rows.append(
            {
                "method": method,
                "display_name": method_class(method).display_name,
                "information": pool.information(method, runs.problem.bridge),
                "weight": ballot.weights.get(method, 0.0),
                "accuracy": vote.mean_accuracy(*parts),
                "gain": compared.gains[method],
                "degenerate": runs.degenerate(method),
            }
        )
    return pd.DataFrame(rows).sort_values(
        ["weight", "gain"], ascending=False, kind="stable", ignore_index=True
    )


def _forecast(runs: HoldOuts, method: str) -> str:
    cost = fit_cost(method_class(method), runs.problem.size(runs.max_rows))
    n_fits = len(runs.folds) + 1
    seconds = math.ceil(n_fits * cost.seconds)
    return f"{method}: {counted(n_fits, 'fit')}, about {seconds} s"


def _degenerate_note(runs: HoldOuts, candidates: Sequence[str]) -> Iterator[str]:
    shares = {name: runs.degenerate(name) for name in candidates}
    some = {name: share for name, share in shares.items() if share > 0}
    if not some:
        return
    texts = (f"{method_class(n).display_name} {100 * s:.0f} %" for n, s in some.items())
    text = f"degenerate, diverged or failed fits: {', '.join(texts)}"
    many = max(some.values()) > MOST_COLLAPSED
    other = scale_to_try(runs.scale) if many else runs.scale
    if other == names.PCA and SHARED in runs.problem.bridge:  # no columns left to share
        other = names.STANDARDISE_EACH
    yield text if other == runs.scale else f"{text}; try the scale {other}"


def _scale_note(runs: HoldOuts) -> Iterator[str]:
    """Yield scales with which the reference is expected to gain `OTHER_SCALE`."""
    standard = runs.folds and runs.scale == names.STANDARDISE
    for scale in (names.UNIT, names.NO_SCALE) if standard else ():
        other = replace(runs, scale=scale, failures={}, _predicted={})
        codes = runs.problem.codes[runs.problem.labelled]
        parts = {"other": other, "own": runs}
        correct = {
            name: vote.correctness(each.predicted(TARGET_ONLY), codes)
            for name, each in parts.items()
        }
        gain = vote.shrunk_gains(correct, "own")["other"]
        if gain >= OTHER_SCALE:
            points = f"{in_points(gain, sign=True)} points"
            yield f"with the scale {scale} {TARGET_ONLY} is expected to gain {points}"


def scale_to_try(scale: str) -> str:
    """Return another scaling to try if fits are degenerate."""
    standard = (names.STANDARDISE, names.STANDARDISE_EACH)
    return names.PCA if scale in (*standard, names.PCA) else names.STANDARDISE


def _check(methods: Sequence[str], repeats: int, problem: Problem) -> None:
    if repeats < MIN_TRIALS:
        fault = f"repeats must be at least {MIN_TRIALS}, got {repeats}"
        raise DataError(f"compare: {fault}.")
    for name in methods:
        cls = method_class(name)
        if cls.transductive:
            fault = "labels only the rows of its fit, and held-out rows are in no fit"
            raise DataError(f"compare: {name} {fault}. Choose another method.")
        if cls.uses_source and problem.source is None:
            fault = "needs a source and labels of the target"
            raise DataError(f"compare: {name} {fault}. Add them, or leave it out.")
        if cls.needs_bridge and not cls.bridges & problem.bridge.keys():
            bridge_names = f"{' or '.join(sorted(cls.bridges))} of the source"
            fault = f"needs {bridge_names}, but there are none"
            remedy = "Add them, or leave the method out."
            raise DataError(f"compare: {name} {fault}. {remedy}")
