"""The idea of CDSPP.

One projection per domain brings rows of one class together, whatever their domain.

The source has three features and the target six others; nothing indicates which of them
have the same meaning. Three labelled target rows per class are enough to find
projections that map each class of both domains to one place, so that the source rows
serve as examples for the target. The remaining target rows then label each other, the
most certain first, and the projections are fitted again, for five iterations by
default.

Picture: Both domains as measured, and in the common subspace; filled markers have a
known label.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from cdspp import CDSPP, SourceDomain

rng = np.random.default_rng(0)
truth = np.arange(90) % 3
X_source = np.eye(3)[truth] + 0.25 * rng.standard_normal((90, 3))
X = np.eye(3, 6)[(truth + 1) % 3] + 0.3 * rng.standard_normal((90, 6))
y = np.where(np.arange(90) < 9, truth, -1)  # three per class are labelled

model = CDSPP().fit(X, y, source=SourceDomain(X_source, truth))
for number, each in enumerate(model.history_, 1):
    right = 100 * np.mean(each.prediction == truth[y == -1])
    print(f"iteration {number}: {right:.1f} % of the rows without a label are right")
print("eigenvalues:", model.eigenvalues_.round(2))

figure, axes = plt.subplots(1, 3, figsize=(8, 3))
together = axes[2]
common = np.vstack([model.transform_source(X_source), model.transform(X)])
flat = PCA(2).fit_transform(common)  # 3 dimensions to the 2 of largest variance
views = (
    (X_source, flat[:90], "o", np.ones(90, dtype=bool)),
    (X, flat[90:], "s", y != -1),
)
for place, (rows, projected, marker, known) in zip(axes, views, strict=False):
    for c, labelled in product(range(3), (True, False)):
        chosen = (truth == c) & (known == labelled)
        face = f"C{c}" if labelled else "white"
        look = {"marker": marker, "s": 18, "edgecolors": f"C{c}", "facecolors": face}
        place.scatter(*rows[chosen, :2].T, **look)
        together.scatter(*projected[chosen].T, **look)
titles = ("source: 2 of 3 features", "target: 2 of 6 features", "both, projected")
for place, title in zip(axes, titles, strict=True):
    place.set(title=title, xticks=[], yticks=[])
plt.tight_layout()
plt.savefig("cdspp.png", dpi=120)
