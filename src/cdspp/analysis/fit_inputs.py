"""What fits were made of, looked up in the folder of their study by its digest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.names import UNLABELLED_ROLE
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.stages.artifacts import SPLIT_COLUMNS, labels_by_id, read_rows
from cdspp.stages.fit_files import FitFile

__all__ = ["FitInputs"]

Files = Mapping[str, Path]

# The files that every fit reads.
READ = ("source_features", "target_features", "source_split", "target_split")


class FitInputs:
    """The files that lie in a study's folders for the fits of a benchmark.

    Parameters
    ----------
    root : Path
        ``results/<study>``.
    benchmark : str
        The benchmark.
    stated : collection of str
        Digests that the report of the study states. A file of these that lies there no
        longer is its own fault, and none of the fits that were made of it.
    """

    def __init__(
        self, root: Path, benchmark: str, stated: Collection[str] = ()
    ) -> None:
        self._stated = stated
        self._results = root.parent
        self._splits = _by_digest((root / "splits" / benchmark).rglob("[!.]*.parquet"))
        shares = _by_digest((root / "test-shares" / benchmark).rglob("[!.]*.parquet"))
        self._places = {name: self._splits for name in ("source_split", "target_split")}
        self._places |= {"prior": shares, "pairs": self._splits}
        self._features: dict[str, Files] = {}
        self._labels: dict[Path, dict[str, str]] = {}
        self._tested: dict[tuple[str, ...], dict[int, str]] = {}

    def labels(self, fit: FitFile) -> Mapping[str, str]:
        """Return the label of each id of a fit's target domain."""
        path = self.label_file(fit)
        if path not in self._labels:
            self._labels[path] = labels_by_id(path)
        return self._labels[path]

    def label_file(self, fit: FitFile) -> Path:
        """Return the file of these labels."""
        name = f"{fit.key.task.split('_')[1]}.parquet"
        return self._results.joinpath("labels", fit.record["dataset"], name)

    def check(self, fit: FitFile) -> None:
        """Check that what a fit was made of lies there, and that it tests what it says.

        Parameters
        ----------
        fit : FitFile
            The fit.

        Raises
        ------
        DataError
            Features or splits are others by now, or its record names other test
            samples than the splits do.
        """
        inputs = {**dict.fromkeys(READ, "none"), **fit.record["inputs"]}
        for name, digest in inputs.items():
            if digest in self._stated or name == "predictions":
                continue  # the report states the digests of files made elsewhere
            if digest not in self._of(name, fit.record["dataset"]):
                raise DataError(
                    f"{fit.path}: its {name} (sha256 {digest[:12]}) is not among the "
                    "files that lie there: they were changed, or it is a fit of other "
                    "data. Delete it and its record and run the study again."
                )
        if not {inputs["source_split"], inputs["target_split"]} <= self._splits.keys():
            return
        tested = self._test_ids(fit)
        for outcome in fit.record["trials"]:
            if tested.get(outcome["trial"]) != outcome["test_ids"]:
                raise DataError(
                    f"{fit.path}: trial {outcome['trial']}: its test samples are not "
                    "those of the split. Delete it and its record and run the study "
                    "again."
                )

    def _of(self, name: str, dataset: str) -> Files:
        if name in self._places:
            return self._places[name]
        if dataset not in self._features:
            place = self._results / "features" / dataset
            self._features[dataset] = _by_digest(place.glob("[!.]*.npz"))
        return self._features[dataset]

    def _test_ids(self, fit: FitFile) -> dict[int, str]:
        """Return a digest of the test samples of each trial, from the splits alone."""
        inputs, overlap = fit.record["inputs"], fit.record["overlap"]
        key = (inputs["source_split"], inputs["target_split"], overlap)
        if key not in self._tested:
            drawn, given = (read_rows(self._splits[i], SPLIT_COLUMNS) for i in key[:2])
            found = {}
            for trial in np.unique(given["trial"]).tolist():
                of_trial = given["trial"] == trial
                tested = given["id"][of_trial & (given["role"] == UNLABELLED_ROLE)]
                if overlap == "exclude":
                    taken = set(drawn["id"][drawn["trial"] == trial])
                    tested = [name for name in tested if name not in taken]
                found[trial] = ids_digest(tested)
            self._tested[key] = found
        return self._tested[key]


def _by_digest(files: Iterable[Path]) -> Files:
    return {file_digest(path): path for path in sorted(files)}
