"""Tables of scikit-learn, split into two laboratories that share a few columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from cdspp.datasets.base import ROWS_NAME, Dataset, Sample, opaque_id


class _Laboratories(Dataset):
    """A table whose rows are split into two domains with different columns.

    Within each class, the rows alternate between ``first`` and ``second``, in
    scikit-learn's order. Values are as published.
    """

    kind = "tables"
    domains = ("first", "second")
    packages = ("scikit-learn",)
    loader: str  # function of sklearn.datasets
    columns: Mapping[str, slice]

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        import cdspp.core.light_sklearn  # noqa: F401

        # isort: split
        from sklearn import datasets

        table = getattr(datasets, self.loader)()
        names = np.asarray(table.feature_names, dtype=np.str_)
        of_class = [np.flatnonzero(table.target == k) for k in range(len(self.classes))]
        samples = {}
        for side, (domain, columns) in enumerate(self.columns.items()):
            rows = np.sort(np.concatenate([places[side::2] for places in of_class]))
            (folder / domain).mkdir()
            X = table.data[rows, columns]
            np.savez(folder / domain / ROWS_NAME, X=X, features=names[columns])
            # Row numbers would reveal the class, by which a table is ordered.
            samples[domain] = [
                Sample(opaque_id(f"{self.identifier}/{row}"), "", self.classes[code])
                for row, code in zip(rows, table.target[rows], strict=True)
            ]
        return samples


class LaboratoriesWine(_Laboratories):
    """178 wines of three cultivars: 8 and 7 of 13 columns, two of them shared."""

    identifier = "laboratories-wine"
    classes = ("class_0", "class_1", "class_2")
    loader = "load_wine"
    columns = {"first": slice(0, 8), "second": slice(6, 13)}


class LaboratoriesCancer(_Laboratories):
    """569 breast masses of two classes: 12 and 21 of 30 columns, three shared."""

    identifier = "laboratories-cancer"
    classes = ("malignant", "benign")
    loader = "load_breast_cancer"
    columns = {"first": slice(0, 12), "second": slice(9, 30)}
