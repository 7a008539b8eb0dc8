"""The embedding model has changed.

The labels belong to old embeddings, and new documents have new ones.

An archive has labels, but only embeddings by the old model; a new model embeds the new
documents. Labelling or embedding the whole archive again would be too expensive. A few
documents that both models have embedded are paired rows and need no label. The script
gives `compare` 10, 30 and 80 of these documents, in three draws, and counts the correct
labels of its vote: with 30 documents 86.6 % on average, without the archive 75.8 %.
The documents are docstrings of SciPy, and the classes are five of its modules; two new
documents per class have a label. The old model counts words, the new one runs of
letters. All columns of an embedding have one unit, so `scale="none"` leaves them
unscaled. `cdspp run resources/studies/embedding-change.yaml` fetches CLINC150 and
measures the same change over trials, with every method for paired documents.

Picture: Correct labels by the number of paired documents, over three draws.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import linalg, ndimage, optimize, signal, special
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from cdspp import SourceDomain, compare

texts, labels = [], []
for module in (linalg, ndimage, optimize, signal, special):
    docs = {inspect.getdoc(getattr(module, name)) or "" for name in module.__all__}
    chosen = sorted({text[:1500] for text in docs if len(text) > 200})[:50]
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
for pairs, draw in [(pairs, draw) for pairs in (10, 30, 80) for draw in range(3)]:
    order = np.random.default_rng(draw).permutation(len(old))
    both, archive, X = order[:pairs], order[80:160], new[order[160:]]
    truth = pd.Series(labels[order[160:]])
    y = truth.where(truth.groupby(truth).cumcount() < 2)  # two labels per class
    bridge = (old[both], new[both])
    source = SourceDomain(old[archive], labels[archive], paired_rows=bridge)
    found = compare(X, y, source=source, scale="none")
    alone = compare(X, y, scale="none")
    answers = [each.estimator.transduction_ for each in (found, alone)]
    right = [100 * (answer == truth)[y.isna()].mean() for answer in answers]
    rows.append([pairs, found.source_gain.verdict, *right])
columns = ["pairs", "the source", "vote", "without the archive"]
table = pd.DataFrame(rows, columns=columns)
print(table.round(1).to_string(index=False), "\n")
means = table.groupby("pairs")[columns[2:]].mean()
print(means.round(1).to_string())

axes = means.plot(marker="o", figsize=(7, 3.6), ylabel="accuracy (%)")
axes.set(xlabel="documents that both models have embedded", xticks=means.index)
plt.tight_layout()
plt.savefig("embedding_change.png", dpi=120)
