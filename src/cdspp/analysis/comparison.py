"""The result of `compare`: a best bet, its evidence, and the next steps."""

import math
import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from cdspp.analysis import best_bet as bets
from cdspp.analysis.best_bet import SETTLED, TARGET_ONLY, Posterior
from cdspp.analysis.rows_to_label import SignTest
from cdspp.core import names
from cdspp.core.wording import aligned, counted, in_points
from cdspp.methods import method_class

FEWEST_ROWS = 5  # fewest with which a sign test can reach 5 %
SCHEMA_VERSION = 2  # of `Comparison.to_dict`
# The scikit-learn equivalent of each scale.
SCALERS = {
    names.UNIT: "preprocessing.Normalizer()",
    names.STANDARDISE: "preprocessing.StandardScaler()",
    names.STANDARDISE_EACH: "preprocessing.StandardScaler()",
    names.PCA: f"decomposition.PCA(min({names.MAX_COMPONENTS}, *{{}}.shape))",
}
_NO_BRIDGE = (
    "With two classes and no bridge, labels by themselves transfer almost nothing. "
    "Look for columns that both tables measure, or for objects that both describe. "
    "Another classifier on the target only, such as svm-t, may gain more than any "
    "source, but few labels cannot show it."
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`; gains are fractions over `target-only`.

    Attributes
    ----------
    best_bet : str
        The method to deploy: one that uses the source, or `target-only`.
    candidate : str
        The method to which `expected_gain`, `interval`, `probability` and
        `disagreement` belong: the bet, or the best candidate with the source if the bet
        is `target-only`.
    posterior : Posterior
        Of the candidate's gain (`cdspp.analysis.best_bet`).
    evidence : str
        "open"; "likely": the bet is the better side with a probability of 0.65 or more;
        "settled": decided at 5 % by a test on rows that were labelled for it.
    disagreement : float
        The share of unlabelled rows that the candidate and `target-only` label
        differently; the gain cannot be larger.
    candidates : DataFrame
        By method: the kind of information it uses, `accuracy` on held-out rows,
        expected gain, its interval (`low`, `high`), the `probability` that it is
        better, that it loses a point or more (`loss`), and the share of `degenerate`
        fits.
    rows_to_label : DataFrame
        Unlabelled rows that the candidate and `target-only` label differently, in
        random order, with both labels.
    n_labelled, n_unlabelled, fewest, repeats : int
        Labelled and unlabelled rows, labelled rows of the smallest class, and hold-outs
        that were run; none if a class has one labelled row.
    test : SignTest or None
        The test on rows that were labelled for it, the bet's count first.
    next_steps : tuple of str
        Code or commands that deploy the bet, and that settle it.
    note : str
        Notes on rows and fits; often empty.
    """

    best_bet: str
    candidate: str
    posterior: Posterior
    evidence: str
    disagreement: float
    candidates: pd.DataFrame
    rows_to_label: pd.DataFrame
    n_labelled: int
    n_unlabelled: int
    fewest: int
    repeats: int
    two_classes: bool
    test: SignTest | None = None
    next_steps: tuple[str, ...] = ()
    note: str = ""

    @property
    def expected_gain(self) -> float:
        """Posterior mean of the candidate's gain over `target-only`."""
        return self.posterior.mean

    @property
    def interval(self) -> tuple[float, float]:
        """The 80 % interval of the gain."""
        return self.posterior.interval

    @property
    def probability(self) -> float:
        """The probability that the candidate is better than `target-only`."""
        return self.posterior.probability

    @property
    def uses_source(self) -> bool:
        """True if the bet uses the source."""
        return method_class(self.best_bet).uses_source

    @property
    def can_be_settled(self) -> bool:
        """True if a test could decide the bet, and enough rows exist for one."""
        return self.evidence != SETTLED and len(self.rows_to_label) >= FEWEST_ROWS

    @property
    def lines(self) -> list[str]:
        """The bet, its evidence, and how to settle it, in one or two sentences each."""
        return [self._bet_line(), self._evidence_line(), self._settle_line()]

    def _bet_line(self) -> str:
        name = method_class(self.best_bet).display_name
        other = method_class(self.candidate).display_name
        low, high = (in_points(end, sign=True) for end in self.interval)
        interval = f"({100 * bets.LEVEL:.0f} % interval {low} to {high})"
        numbers = f"{in_points(self.expected_gain, sign=True)} points {interval}"
        better = f"better with a probability of {100 * self.probability:.0f} %"
        source_use = "with the source" if self.uses_source else "without the source"
        bet = f"Best bet: {name}, {source_use}"
        if self.evidence == SETTLED:
            before = f"the expected gain of {other} over target-only was {numbers}"
            return f"{bet}: your labels say so. Before them, {before}."
        if self.best_bet == self.candidate:
            gain = f"Its expected gain over target-only is {numbers}"
            return f"{bet}. {gain}; it is {better}."
        return f"{bet}. The best candidate with it is {other}: {numbers}, {better}."

    def _evidence_line(self) -> str:
        text = f"Evidence: {self.evidence}"
        name = method_class(self.candidate).display_name
        share = f"{in_points(self.disagreement)} % of the unlabelled rows"
        differ = f"{name} and target-only label {share} differently"
        if math.isnan(self.disagreement):
            differ = "one of the two fits failed on all rows"
        if self.test is not None:
            return f"{text}. {self._test_words(self.test)}"
        if not self.repeats:
            why = "because a class has one labelled row: nothing was cross-validated"
            figures = "the figures are those of the prior"
            return f"{text}, {why}, and {figures}; {differ}."
        rows = counted(self.n_labelled, "labelled row")
        risk = f"a probability of {100 * self.posterior.loss:.0f} %"
        loss_text = f" It loses {100 * bets.LEAST_GAIN:.0f} point or more with {risk}."
        return f"{text}, from {rows}; {differ}.{loss_text if self.uses_source else ''}"

    def _test_words(self, test: SignTest) -> str:
        if not test.n_rows:
            return "The first row to label has no label yet, so nothing was tested."
        name = method_class(self.candidate).display_name
        right = f"only {name} is right on {test.first}"
        also = f"only target-only on {test.second} (sign test, p = {test.p_value:.2g})"
        rows = f"Of {counted(test.n_rows, 'row')} that you labelled"
        last = "This test is final: labels added to the file only join the next fit."
        open_ = ", which settles nothing" if test.winner is None else ""
        return f"{rows}, {right}, and {also}{open_}. {last}"

    def _settle_line(self) -> str:
        n_rows = len(self.rows_to_label)
        if not self.n_unlabelled:
            return "No row is unlabelled: the bet is for future rows."
        if not n_rows:
            return "Both fits label every unlabelled row alike: either will do."
        if self.evidence == SETTLED:
            return "Label other rows only if future rows differ from these."
        if n_rows < FEWEST_ROWS:
            few = "too few for a test: either fit will do"
            rows = counted(n_rows, "unlabelled row")
            return f"The choice matters for {rows} only, {few}."
        return (
            f"To settle it, label at least {FEWEST_ROWS}, better 20, of the {n_rows} "
            "rows on which the two disagree, from the top of their random order."
        )

    def grid(self) -> list[list[str]]:
        """Return the table of candidates as text, with a heading."""
        heading = ["Method", "Uses", "Accuracy, %", "Gain", "80 % interval"]
        cells = [[*heading, "P(better)", "P(loss)", ""]]
        for row in self.candidates.itertuples():
            bet = "← bet" if row.method == self.best_bet else ""
            name, kind = str(row.display_name), str(row.information)
            accuracy = "" if pd.isna(row.accuracy) else in_points(row.accuracy)
            numbers = ["" if row.method == TARGET_ONLY else "degenerate", "", "", ""]
            if pd.notna(row.expected_gain):
                ends = (in_points(end, sign=True) for end in (row.low, row.high))
                gain = in_points(row.expected_gain, sign=True)
                shares = [f"{100 * p:.0f} %" for p in (row.probability, row.loss)]
                numbers = [gain, " to ".join(ends), *shares]
            cells.append([name, kind, accuracy, *numbers, bet])
        return cells

    @property
    def remarks(self) -> list[str]:
        """Notes beyond the answer: a missing bridge, rows and fits."""
        bridged = (self.candidates["information"] == bets.BRIDGE).any()
        texts = [_NO_BRIDGE] if self.two_classes and not bridged else []
        return [*texts, *filter(None, [self.note])]

    def __repr__(self) -> str:
        """Show the answer, the candidates and the next steps on one screen."""
        steps = [textwrap.indent(step, "    ") for step in self.next_steps]
        parts = ["\n".join(self.lines), "\n".join(aligned(self.grid()))]
        return "\n\n".join([*parts, "\n\n".join(steps), *self.remarks])

    def _repr_html_(self) -> str:
        heading, *lines = self.grid()
        frame = pd.DataFrame(lines, columns=heading)
        answer = "<br>".join(map(escape, self.lines))
        leads = zip(("To deploy it:", "To settle it:"), self.next_steps, strict=False)
        steps = "".join(
            f"<p>{lead}</p><pre><code>{escape(step)}</code></pre>"
            for lead, step in leads
        )
        remarks = "".join(f"<p>{escape(text)}</p>" for text in self.remarks)
        return f"<p>{answer}</p>{frame.to_html(index=False)}{steps}{remarks}"

    def to_frame(self) -> pd.DataFrame:
        """Return the candidates as a data frame, the bet marked by `best_bet`."""
        bet = self.candidates["method"] == self.best_bet
        return self.candidates.assign(best_bet=bet)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as values of JSON, by `SCHEMA_VERSION`."""
        test, unknown = self.test, math.isnan(self.disagreement)
        candidates = self.candidates.astype(object).where(self.candidates.notna(), None)
        return {
            "schema_version": SCHEMA_VERSION,
            "best_bet": self.best_bet,
            "uses_source": self.uses_source,
            "candidate": self.candidate,
            "expected_gain": self.expected_gain,
            "interval": [*self.interval],
            "interval_level": bets.LEVEL,
            "probability": self.probability,
            "probability_of_loss": self.posterior.loss,
            "evidence": self.evidence,
            "disagreement": None if unknown else self.disagreement,
            "n_labelled": self.n_labelled,
            "n_unlabelled": self.n_unlabelled,
            "fewest_labels_of_a_class": self.fewest,
            "repeats": self.repeats,
            "candidates": candidates.to_dict("records"),
            "rows_to_label": len(self.rows_to_label),
            "test": test
            and {**test._asdict(), "p_value": test.p_value, "winner": test.winner},
            "next_steps": list(self.next_steps),
            "remarks": self.remarks,
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw the expected gain of each candidate with its 80 % interval, in points.

        Returns the Matplotlib axes, new ones if none are given.
        """
        import matplotlib.pyplot as plt

        candidates = self.candidates[self.candidates["expected_gain"].notna()][::-1]
        if axes is None:
            _, axes = plt.subplots(figsize=(6.5, 1.2 + 0.4 * len(candidates)))
        mean = 100 * candidates["expected_gain"].to_numpy()
        ends = 100 * candidates[["low", "high"]].to_numpy().T
        axes.errorbar(mean, candidates["display_name"], xerr=abs(ends - mean), fmt="o")
        axes.axvline(0.0, color="grey", linewidth=0.8)
        axes.set_xlabel("expected gain over target-only, points (80 % interval)")
        axes.margins(y=0.2)
        return axes


def python_lines(method: str, scale: str) -> str:
    """Return Python that fits a method and scales new rows like the fitted ones."""
    cls = method_class(method)
    estimator, uses = f"cdspp.make({method!r})", cls.uses_source
    if scale == names.NO_SCALE:
        source_argument = ", source=source" if uses else ""
        return f"import cdspp\nmodel = {estimator}.fit(X, y{source_argument})"
    module, _, scaler = SCALERS[scale].partition(".")
    source_rows = f"{scaler.format('source.X')}.fit_transform(source.X)"
    learn = f"scaled = cdspp.SourceDomain({source_rows}, source.y)"
    if uses and cls.bridges:  # shared columns may use the source's scale
        function = f"cdspp.methods.problem.scale_domains({scale!r}, X, source)"
        learn = f"scaling, scaled = {function}"
        module = "preprocessing"
        scaler = "FunctionTransformer(scaling.apply, validate=True)"
    routed = f", {cls.__name__.lower()}__source=scaled" if uses else ""
    lines = ["import cdspp", "from sklearn.pipeline import make_pipeline"]
    lines.append(f"from sklearn.{module} import {scaler.partition('(')[0]}")
    if uses:
        lines.append(learn)
    lines.append(f"model = make_pipeline({scaler.format('X')}, {estimator})")
    return "\n".join([*lines, f"model.fit(X, y{routed})"])
