"""The labels that candidates give to the same rows, and the vote that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cdspp.analysis import vote
from cdspp.analysis.pool import TARGET_ONLY
from cdspp.analysis.summary import Floats
from cdspp.core.linalg import Int


@dataclass(frozen=True, eq=False)
class Ballot:
    """Labels of rows by each candidate, as class codes, and the weighted vote.

    Attributes
    ----------
    predicted : dict of ndarray of shape (repeats, n_labelled)
        By candidate, labels of held-out rows; `vote.NOT_TESTED` for others.
        Accuracies are of the first `repeats`, weights of all.
    transduction : dict of ndarray of shape (n_unlabelled,)
        Labels of the unlabelled rows by a fit on all labelled rows.
    codes : ndarray of shape (n_labelled,)
        Classes of the labelled rows.
    n_classes, repeats : int
        Number of classes, and of hold-outs; further ones are stand-ins.
    shrinkage, temperature : float
        Constants of the weights, as in `cdspp.analysis.vote`.
    """

    predicted: dict[str, Int]
    transduction: dict[str, Int]
    codes: Int
    n_classes: int
    repeats: int
    shrinkage: float = vote.SHRINKAGE
    temperature: float = vote.TEMPERATURE

    def of(self, names: Iterable[str]) -> "Ballot":
        """Return the ballot of some candidates."""
        names = [*names]
        predicted = {name: self.predicted[name] for name in names}
        transduction = {name: self.transduction[name] for name in names}
        return replace(self, predicted=predicted, transduction=transduction)

    @cached_property
    def correct(self) -> dict[str, Floats]:
        """By candidate, whether held-out rows are right."""
        parts = self.predicted.items()
        return {name: vote.correctness(part, self.codes) for name, part in parts}

    @property
    def reference(self) -> str:
        """The candidate over which gains are measured."""
        return (
            TARGET_ONLY if TARGET_ONLY in self.predicted else next(iter(self.predicted))
        )

    @cached_property
    def sharing(self) -> dict[str, int]:
        """By candidate, the number of candidates that label all rows as it does."""
        parts = {n: (self.predicted[n], self.transduction[n]) for n in self.predicted}
        return vote.sharers(parts)

    @cached_property
    def gains(self) -> dict[str, float]:
        """The shrunk gain of each candidate; zero without hold-outs."""
        return vote.shrunk_gains(self.correct, self.reference, shrinkage=self.shrinkage)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each candidate; equal without hold-outs."""
        return vote.weights(self.gains, self.sharing, temperature=self.temperature)

    @cached_property
    def held_out(self) -> Int:
        """The vote's labels of held-out rows, with weights from the other rows."""
        weights = vote.weights_of_others(
            self.correct,
            self.reference,
            self.sharing,
            shrinkage=self.shrinkage,
            temperature=self.temperature,
        )
        parts = {name: part[: self.repeats] for name, part in self.predicted.items()}
        return vote.held_out_votes(parts, weights, self.n_classes)

    def label(self, transduction: dict[str, Int]) -> tuple[Int, Floats]:
        """Return the vote's labels of other rows, and the weight of each class."""
        predictions = np.array([transduction[name] for name in self.weights])
        weights = np.array([*self.weights.values()])
        return vote.vote_codes(predictions, weights, self.n_classes)

    @cached_property
    def labels(self) -> Int:
        """The vote's labels of the unlabelled rows."""
        return self.label(self.transduction)[0]

    @cached_property
    def class_shares(self) -> Floats:
        """The class shares expected among unlabelled rows."""
        return vote.class_shares(self.labels, self.codes, self.n_classes)

    @cached_property
    def right(self) -> Floats:
        """The mean correctness of the vote on each labelled row; NaN if not tested."""
        return vote.row_means(vote.correctness(self.held_out, self.codes))

    def gain_over(self, members: Sequence[str], truth: Int) -> vote.SourceGain:
        """Return the gain over the vote of some members on the unlabelled rows.

        `truth` has the labels that are known by now, `vote.NOT_TESTED` for others.
        """
        fewer = self.of(members)
        return vote.source_gain(
            (self.labels, fewer.labels),
            truth,
            (self.held_out, fewer.held_out),
            self.codes,
            self.class_shares,
        )

    def admit(self, default: Sequence[str], named: Iterable[str]) -> "Ballot":
        """Return the ballot of the default candidates and of named ones that may join.

        A named candidate joins unless the accuracy of the vote falls, and never without
        hold-outs.
        """
        chosen = self.of(default)
        shares = chosen.class_shares
        for name in named if len(chosen.held_out) else ():
            longer = self.of([*chosen.predicted, name])
            with_it, without = (
                vote.mean_accuracy(each.right, self.codes, shares)
                for each in (longer, chosen)
            )
            if with_it >= without:
                chosen = longer
        return chosen
