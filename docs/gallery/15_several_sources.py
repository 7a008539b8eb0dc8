"""Several sources.

Three labelled archives, two of which resemble the new data.

The classes of the new data lie in an unobserved space of five dimensions. Two archives
measure it in their own ways, with 20 and 40 features. The third archive has the same
classes in a different arrangement. CDSPP uses all archives in one problem, and leaving
one out shows its value: with all three, 80.5 % of the labels are correct, without the
third, 93.0 %. A vote of one fit per source (`SourceVote`, for any method) reaches 93.8
%. Before you trust either, compare it with the fit without a source: 92.4 % here.

All numbers are means over ten draws of classes, rows and labels.

Picture: Accuracy with one labelled row per class; the bars are standard errors.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from cdspp import SourceDomain, SourceVote, make

CLASSES, LATENT = 8, 5


def measured(rng, centres, each, width):
    """Return rows around the centres of their classes, in one archive's features."""
    classes = np.repeat(np.arange(CLASSES), each)
    latent = centres[classes] + 0.35 * rng.standard_normal((len(classes), LATENT))
    return latent @ rng.standard_normal((LATENT, width)), classes


def accuracy(model, X, y, truth, sources):
    """Return the share of unlabelled rows that get the right label, in percent."""
    found = model.fit(X, y, source=sources).transduction_
    return 100 * np.mean((found == truth)[y == -1])


rows = []
for draw in range(10):
    rng = np.random.default_rng(draw)
    centres, others = rng.standard_normal((2, CLASSES, LATENT))
    X, truth = measured(rng, centres, 25, 30)
    y = np.where(np.arange(len(truth)) % 25 < 1, truth, -1)
    archives = {
        "first": SourceDomain(*measured(rng, centres, 20, 20)),
        "second": SourceDomain(*measured(rng, centres, 20, 40)),
        "other": SourceDomain(*measured(rng, others, 20, 30)),
    }
    used = {"no source": None, "all three": list(archives.values())}
    for name in archives:
        used[f"{name} alone"] = archives[name]
        used[f"without {name}"] = [s for n, s in archives.items() if n != name]
    for name, sources in used.items():
        rows.append((name, accuracy(make("cdspp"), X, y, truth, sources)))
    vote = SourceVote(make("cdspp"))
    rows.append(("vote of three", accuracy(vote, X, y, truth, used["all three"])))
table = pd.DataFrame(rows, columns=["sources", "right"]).groupby("sources")
table = table["right"].agg(["mean", "sem"]).sort_values("mean")
print(table.round(1).to_string())

axes = table["mean"].plot.barh(xerr=table["sem"], figsize=(7, 3.6))
axes.set(xlabel="accuracy (%)", ylabel="")
plt.tight_layout()
plt.savefig("several_sources.png", dpi=120)
