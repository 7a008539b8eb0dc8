"""The choice of the method to deploy on a target with few labels and a source."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cdspp.analysis import best_bet as bets
from cdspp.analysis.best_bet import TARGET_ONLY, Posterior
from cdspp.analysis.comparison import Comparison, python_lines
from cdspp.analysis.hold_outs import HoldOuts, Problem, make_folds
from cdspp.analysis.rows_to_label import SignTest, draw_rows, read_labelled
from cdspp.analysis.summary import MOST_COLLAPSED, Floats
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core import names
from cdspp.core.errors import DataError
from cdspp.core.wording import counted, in_points
from cdspp.methods import method_class, register_method
from cdspp.methods.base import SourceDomain
from cdspp.methods.bridge import SHARED
from cdspp.methods.cost import fit_cost

__all__ = ["compare", "scale_to_try"]

# Hold-outs end once no posterior mean has changed by more over the last five.
SETTLED_MEAN, LAST_REPEATS = 0.002, 5
_TO_SETTLE = """\
rows = found.rows_to_label.head(20)  # found = cdspp.compare(...)
rows["label"] = [...]  # from the top
cdspp.compare(X, y, source=source, labelled=rows{})"""

Labelled: TypeAlias = pd.DataFrame | Sequence[pd.DataFrame] | None


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    source: SourceDomain,
    methods: Sequence[Any] | None = None,
    labelled: Labelled = None,
    repeats: int = 15,
    test_share: float = 1 / 5,
    scale: str = names.STANDARDISE,
    max_rows: int = 2000,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Name the best method to deploy for a target with few labels and a source.

    Parameters
    ----------
    X : array-like of shape (n_target, n_features)
        Target rows.
    y : array-like of shape (n_target,)
        Their labels, as in `fit`. If a class has one labelled row, nothing is
        cross-validated, and the answer is based on the prior.
    source : SourceDomain
        Labelled source rows, optionally with shared columns or paired rows, which add
        candidates that use them.
    methods : sequence, optional
        Further candidates: identifiers, class paths such as ``"mine:MyMethod"``,
        classes or instances. Transductive methods cannot predict held-out rows.
    labelled : DataFrame or sequence of DataFrame, optional
        `rows_to_label` of an earlier answer on the same tables, with labels filled in
        from the top; several are given in their order. The last is tested, once; all
        labels are added to the fits on all labelled rows, but never held out.
    repeats : int, default=15
        Maximum number of stratified hold-outs; at least `MIN_TRIALS`. Fewer run if the
        expected gains no longer change.
    test_share : float, default=1/5
        Share of the labelled rows of each class to hold out, at least one row. All rows
        of a class are held out equally often.
    scale : {"none", "unit", "standardise", "standardise-each", "pca"}, \
default="standardise"
        Scaling of the features (`cdspp.core.scaling.fit_scaling`): of the source once,
        of the target by the rows of each fit, of shared columns as in the source, or
        with "standardise-each" by each domain's own rows. Columns of tables have
        different units, and unscaled fits may collapse.
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
        The bet, its evidence, the candidates, and the rows to label next.

    Raises
    ------
    ConfigError
        A method or a scale is unknown.
    DataError
        A method is transductive or needs a bridge that the source lacks, `repeats` is
        too small, or `labelled` belongs to other tables or fits.

    Notes
    -----
    The rule and its constants are in `cdspp.analysis.best_bet`. Each candidate takes 10
    to 15 fits and one on all labelled rows.
    """
    problem = Problem.of(X, y, source, scale)
    extra = [register_method(method) for method in methods or ()]
    candidates = [*dict.fromkeys([*bets.default_candidates(problem.bridge), *extra])]
    _check(candidates, repeats, problem)
    n_folds = repeats if problem.fewest > 1 else 0
    folds = make_folds(problem, n_folds, test_share, max_rows, seed)
    runs = HoldOuts(problem, folds, scale, max_rows, seed)
    for name in candidates:
        progress(_forecast(runs, name, n_folds + 1))
    gains, n_repeats = _gains(runs, candidates)
    found = _bet(runs, gains, n_repeats, labelled)
    first = "# first write the labels of these rows into y\n" if found.test else ""
    steps = [first + python_lines(found.best_bet, scale)]
    if found.can_be_settled:
        scale_option = "" if scale == names.STANDARDISE else f", scale={scale!r}"
        steps.append(_TO_SETTLE.format(scale_option))
    notes = *runs.notes(), *_degenerate_note(runs, found), *_scale_note(runs, n_repeats)
    return replace(found, next_steps=tuple(steps), note="; ".join(notes))


def _gains(runs: HoldOuts, names: Sequence[str]) -> tuple[dict[str, Posterior], int]:
    """Return the posterior gain of each candidate, and the number of hold-outs.

    They end once no mean has changed by more than `SETTLED_MEAN` over the last five,
    and each row was held out at least once.
    """
    bridge = runs.problem.bridge
    others = (name for name in names if name != TARGET_ONLY)
    priors = {name: bets.PRIORS[bets.information(name, bridge)] for name in others}
    means: list[list[float]] = []
    posteriors = {name: bets.posterior([], prior) for name, prior in priors.items()}
    for n_repeats in range(1, len(runs.folds) + 1):
        target_only = runs.correct(TARGET_ONLY, n_repeats)
        for name, prior in priors.items():
            gains = differences(runs.correct(name, n_repeats), target_only)
            posteriors[name] = bets.posterior(gains, prior)
        means.append([gain.mean for gain in posteriors.values()])
        if n_repeats >= MIN_TRIALS + LAST_REPEATS:
            changes = np.abs(np.subtract(means[-1], means[-1 - LAST_REPEATS]))
            if changes.max() < SETTLED_MEAN:
                break
    return posteriors, len(means)


def differences(ours: Floats, theirs: Floats) -> Floats:
    """Return, by labelled row, the mean difference over repeats; NaN if untested."""
    gains = ours - theirs
    tested = np.isfinite(gains).sum(axis=0)
    total: Floats = np.nansum(gains, axis=0)
    means = np.full(len(total), np.nan)
    np.divide(total, tested, out=means, where=tested > 0)
    return means


def _bet(
    runs: HoldOuts, gains: Mapping[str, Posterior], n_repeats: int, labelled: Labelled
) -> Comparison:
    problem = runs.problem
    names = (*gains, TARGET_ONLY)
    shares = {name: runs.degenerate(name, n_repeats) for name in names}
    usable = {name: g for name, g in gains.items() if shares[name] <= MOST_COLLAPSED}
    candidate = bet = bets.best_bet(usable)
    if bet == TARGET_ONLY:
        with_source = [name for name in gains if method_class(name).uses_source]
        eligible = [name for name in with_source if name in usable] or with_source
        candidate = max(eligible, key=lambda name: gains[name].mean)
    strength = bets.evidence(bet, gains[candidate]) if n_repeats else bets.OPEN
    rows, test, disagreement = _rows_to_label(runs, candidate, labelled)
    if test is not None and test.winner is not None:
        bet, strength = (candidate, TARGET_ONLY)[test.winner], bets.SETTLED
    return Comparison(
        best_bet=bet,
        candidate=candidate,
        posterior=gains[candidate],
        evidence=strength,
        disagreement=disagreement,
        candidates=_candidates(runs, usable, shares, n_repeats),
        rows_to_label=rows,
        n_labelled=len(problem.labelled),
        n_unlabelled=len(problem.unlabelled),
        fewest=problem.fewest,
        repeats=n_repeats,
        two_classes=problem.two_classes,
        test=test,
    )


def _rows_to_label(
    runs: HoldOuts, candidate: str, labelled: Labelled
) -> tuple[pd.DataFrame, SignTest | None, float]:
    """Return rows to label, the test on the last labelled ones, and their share.

    If a method fails there are none, and the share is NaN.
    """
    problem, test = runs.problem, None
    earlier = [labelled] if isinstance(labelled, pd.DataFrame) else [*(labelled or ())]
    table = pd.DataFrame()
    for rows in (*earlier, None):
        first, second = (runs.label_all(problem, n) for n in (candidate, TARGET_ONLY))
        if first is None or second is None:
            return table, test, math.nan
        table = draw_rows(problem, {candidate: first, TARGET_ONLY: second}, runs.seed)
        if rows is not None:
            places, labels, test = read_labelled(rows, table, problem)
            codes = problem.codes.copy()
            codes[places] = labels
            problem = replace(problem, codes=codes)
    return table, test, len(table) / max(len(problem.unlabelled), 1)


def _candidates(
    runs: HoldOuts,
    usable: Mapping[str, Posterior],
    shares: Mapping[str, float],
    n_repeats: int,
) -> pd.DataFrame:
    rows = []
    for method, share in shares.items():
        gain = usable.get(method, Posterior(math.nan, math.nan))
        low, high = gain.interval
        rows.append(
            {
                "method": method,
                "display_name": method_class(method).display_name,
                "information": bets.information(method, runs.problem.bridge),
                "accuracy": _accuracy(runs.correct(method, n_repeats)),
                "expected_gain": gain.mean,
                "low": low,
                "high": high,
                "probability": gain.probability,
                "loss": gain.loss,
                "degenerate": share,
            }
        )
    return pd.DataFrame(rows).sort_values(
        "expected_gain", ascending=False, kind="stable", ignore_index=True
    )


def _accuracy(correct: Floats) -> float:
    """Return the mean over rows; NaN if no row was tested."""
    tested = np.isfinite(correct).any(axis=0)
    if not tested.any():
        return math.nan
    return float(np.nanmean(correct[:, tested], axis=0).mean())


def _forecast(runs: HoldOuts, method: str, n_fits: int) -> str:
    cost = fit_cost(method_class(method), runs.problem.size(runs.max_rows))
    seconds = math.ceil(n_fits * cost.seconds)
    return f"{method}: at most {counted(n_fits, 'fit')}, about {seconds} s"


def _degenerate_note(runs: HoldOuts, comparison: Comparison) -> Iterator[str]:
    shares = comparison.candidates.set_index("display_name")["degenerate"]
    if not shares.any():
        return
    texts = (f"{name} {100 * s:.0f} %" for name, s in shares[shares > 0].items())
    text = f"fits that failed, collapsed or diverged: {', '.join(texts)}"
    other = scale_to_try(runs.scale) if shares.max() > MOST_COLLAPSED else runs.scale
    if other == names.PCA and SHARED in runs.problem.bridge:  # no columns left to share
        other = names.STANDARDISE_EACH
    yield text if other == runs.scale else f"{text}; try the scale {other}"


def _scale_note(runs: HoldOuts, n_repeats: int) -> Iterator[str]:
    """Yield scales with which the reference is expected to gain a point or more."""
    standard = n_repeats and runs.scale == names.STANDARDISE
    for scale in (names.UNIT, names.NO_SCALE) if standard else ():
        other = replace(runs, scale=scale, failures={}, _correct={})
        fits = (each.correct(TARGET_ONLY, n_repeats) for each in (other, runs))
        gains = differences(*fits)
        gain = bets.posterior(gains, bets.PRIORS[bets.NO_SOURCE]).mean
        if gain >= bets.LEAST_GAIN:
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
        if cls.needs_bridge and not cls.bridges & problem.bridge.keys():
            bridge_names = f"{' or '.join(sorted(cls.bridges))} of the source"
            fault = f"needs {bridge_names}, but there are none"
            remedy = "Add them, or leave the method out."
            raise DataError(f"compare: {name} {fault}. {remedy}")
