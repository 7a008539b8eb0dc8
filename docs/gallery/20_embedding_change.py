"""The embedding model has changed.

The labelled archive is embedded by the old model, the new documents by the new one.

Nobody wants to label again, or to embed the whole archive again. A few documents that
both models have embedded need no label, and they are a bridge: the script compares
methods with 10 to 80 of them. The documents are docstrings of SciPy, the classes five
of its modules; one new document of each has a label. The old model knows words, the new
one runs of letters.

Picture: Accuracy on the new documents by the number of paired ones, over three draws.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import linalg, ndimage, optimize, signal, special
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from cdspp import SourceDomain, make

METHODS = ["svm-t", "target-only", "cdspp", "cdspp-bridge", "paired-map-plus"]
texts, labels = [], []
for module in (linalg, ndimage, optimize, signal, special):
    said = {inspect.getdoc(getattr(module, name)) or "" for name in module.__all__}
    chosen = sorted({text[:1500] for text in said if len(text) > 200})[:50]
    texts += chosen
    labels += [module.__name__] * len(chosen)

old_words = TfidfVectorizer(stop_words="english", min_df=2)
new_words = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), min_df=3)
old, new = (
    make_pipeline(words, TruncatedSVD(size, random_state=0)).fit_transform(texts)
    for words, size in ((old_words, 60), (new_words, 100))
)
_, once = np.unique(old.round(9), axis=0, return_index=True)  # each document once
old, new, labels = old[once], new[once], np.array(labels, dtype=object)[once]
print(f"{len(old)} documents; old model {old.shape[1]} numbers, new {new.shape[1]}")

rows = []
for draw in range(3):
    order = np.random.default_rng(draw).permutation(len(old))
    both, archive, fresh = order[:80], order[80:160], order[160:]
    truth = pd.Series(labels[fresh])
    y = truth.where(truth.groupby(truth).cumcount() < 1)  # one label of each class
    for pairs in (10, 30, 80):
        bridge = (old[both[:pairs]], new[both[:pairs]])
        source = SourceDomain(old[archive], labels[archive], paired_rows=bridge)
        for method in METHODS:
            found = make(method).fit(new[fresh], y, source=source).transduction_
            right = 100 * (found == truth)[y.isna()].mean()
            rows.append({"pairs": pairs, "method": method, "right": right})
table = pd.DataFrame(rows).pivot_table("right", "pairs", "method", sort=False)
print(table.round(1).to_string())

axes = table.plot(marker="o", figsize=(7, 3.6), ylabel="right labels, percent")
axes.set(xlabel="documents that both models have embedded", xticks=table.index)
plt.tight_layout()
plt.savefig("embedding_change.png", dpi=120)
