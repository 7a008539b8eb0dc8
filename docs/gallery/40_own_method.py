"""A method of your own, in a study.

A class with `fit` and `predict` becomes a row of a study, next to all other methods.

The script writes such a class, the nearest class mean with a small vote of the source,
and a study of it on the data that come with the package. `cdspp plan` tries the class
on a toy problem and forecasts the cost; `cdspp run mine.yaml` runs the study. Then
`compare` lets it vote on two tables of wines.

Picture: Weight of each candidate in the vote.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from cdspp import SourceDomain, compare
from cdspp.cli.main import main

Path("mine.py").write_text('''\
import numpy as np


class Prototypes:
    """Nearest class mean; the source votes by its shares of the classes."""

    def fit(self, X, y, *, source):
        self.classes_ = np.unique(y[y != -1])
        self.means_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        self.votes_ = np.array([np.mean(source.y == c) for c in self.classes_])
        return self

    def predict(self, X):
        squares = ((np.asarray(X)[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[np.argmin(squares - 0.1 * self.votes_, axis=1)]
''')
Path("mine.yaml").write_text("""\
study: mine
preset: [embedded, quick]
methods:
  - {id: prototypes, class: "mine:Prototypes"}
  - {id: svm-t}
  - {id: target-only}
  - {id: cdspp}
""")
sys.path.insert(0, "")  # this folder, where mine.py is
main(["plan", "mine.yaml"])  # in the shell: cdspp plan mine.yaml

wines = load_wine()
y = np.where(np.arange(89) % 3 == 0, wines.target[1::2], -1)  # every third is known
source = SourceDomain(wines.data[::2, 5:], wines.target[::2])
methods = ["mine:Prototypes", "svm-t"]
found = compare(wines.data[1::2, :5], y, source=source, methods=methods, repeats=5)
print("\n".join(found.lines), "\n")
columns = ["display_name", "information", "weight", "accuracy", "gain"]
print(found.candidates[columns].to_string(index=False, float_format="%.3f"))

found.plot()
plt.tight_layout()
plt.savefig("own_method.png", dpi=120)
