"""Selecting an option by skada's scores, without target labels.

CDSPP brings both domains into one subspace, where the scores of skada apply.

skada adapts domains with equal features, and its scores select options without target
labels. Here they select the `alpha` of CDSPP, in twenty draws of digits: pixels in the
source, Fourier magnitudes in the target, three labels per digit. Scores of the
certainty of predictions select well: the `alpha` of best entropy labels 51.8 %
correctly, 2.7 points more than the default, with a standard error of 0.8. Scores that
estimate the accuracy from the source select badly, because CDSPP has seen its labels:
at the default, the weighted one expects 0.979 where 49.1 % are correct. No score tests
whether the source helps: without it, 54.7 % are correct.

Picture: Correct labels, and two scores that estimate them from the source, by alpha.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from skada import make_da_pipeline, metrics
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from cdspp import CDSPP, SourceDomain, make

SCORES = {
    "entropy": metrics.PredictionEntropyScorer(),
    "MaNo": metrics.MaNoScorer(),
    "soft neighbours": metrics.SoftNeighborhoodDensity(),
    "weighted source": metrics.ImportanceWeightedScorer(),
    "circular": metrics.CircularValidation(),
}
digits, rows = load_digits(), []
judge = LogisticRegression(max_iter=500).set_fit_request(sample_weight=True)
judge = make_da_pipeline(judge.set_score_request(sample_weight=True))
for draw in range(20):
    rng = np.random.default_rng(draw)
    old, new = np.split(rng.permutation(len(digits.data))[:900], [400])
    waves = np.log1p(np.abs(np.fft.fft2(digits.images[new]))[:, :5, :5])
    X = waves.reshape(len(new), -1) + 0.1 * rng.standard_normal((len(new), 25))
    X, truth = (X - X.mean(axis=0)) / X.std(axis=0), digits.target[new]
    y = np.where(pd.Series(truth).groupby(truth).cumcount() < 3, truth, -1)
    source, rest = SourceDomain(digits.data[old] / 16, digits.target[old]), y == -1
    alone = (make("target-only").fit(X, y).transduction_ == truth)[rest].mean()
    for alpha in (0.1, 1.0, 10.0, 100.0, 1000.0):  # 10 is the default
        model = CDSPP(alpha=alpha).fit(X, y, source=source)
        right = (model.transduction_ == truth)[rest].mean()
        rows.append({"draw": draw, "alpha": alpha, "right": right, "no source": alone})
        # For skada: source rows, then target rows without their labels.
        both = np.vstack([model.transform_source(source.X), model.transform(X[rest])])
        known, domain = np.r_[source.y, y[rest]], np.repeat([1, -2], [400, rest.sum()])
        judge.fit(both, known, sample_domain=domain)
        for name, score in SCORES.items():
            rows[-1][name] = score(judge, both, known, sample_domain=domain)
wide = pd.DataFrame(rows).pivot(index="draw", columns="alpha")
means = wide.mean().unstack(level=0)
print(means.round(3).T.to_string(), "\n")

right = 100 * wide["right"]
chosen = {"no source": 100 * wide["no source"][10.0], "default": right[10.0]}
for name in SCORES:
    chosen[name] = [right.loc[best] for best in wide[name].idxmax(axis=1).items()]
chosen = pd.DataFrame(chosen)
gain = chosen.sub(right[10.0], axis=0)
table = pd.DataFrame({"right": chosen.mean(), "gain": gain.mean(), "error": gain.sem()})
print(table.round(1).to_string())

lines = means[["right", "no source", "weighted source", "circular"]]
(100 * lines).plot(marker="o", figsize=(7, 3.6), logx=True, ylabel="percent")
plt.savefig("skada_scores.png", dpi=120, bbox_inches="tight")
