"""Codebooks and views of domains as NPZ files, without labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core import devices, jobs, linalg, scaling
from cdspp.core.devices import AUTO, device_of_job
from cdspp.core.errors import DataError
from cdspp.core.names import NO_SCALE, PCA, PathLike
from cdspp.datasets.base import Index, read_fetched, read_index
from cdspp.features import make_extractor
from cdspp.features.base import Extractor, FileExtractor, ViewExtractor, WordExtractor
from cdspp.features.precomputed import Published, TableColumns
from cdspp.stages.formats import Features, read_features, write_features


def build_codebook(
    *,
    files: Mapping[str, PathLike],
    extractor: str,
    options: Mapping[str, Any],
    output: PathLike,
    numeric_threads: int,
) -> None:
    """Learn the codebook of a `WordExtractor`, one word per row, from its domain.

    `files` are as in `extract_view`. DataError: they cannot be read or are too few.
    """
    tool = make_extractor(extractor, **options)
    assert isinstance(tool, WordExtractor)
    content, domain = read_index(Path(files["index"])), str(tool.codebook_domain)
    _load(tool)
    with devices.limit_threads(numeric_threads):
        words = tool.fit_codebook(_paths(content, domain, files))
    content.check(domain)
    names = [f"word-{number}" for number in range(len(words))]
    record = _record(tool, dataset=content.dataset, domain=domain)
    _write(output, words, names, record)


def extract_view(
    *,
    files: Mapping[str, PathLike],
    extractor: str,
    options: Mapping[str, Any],
    domain: str,
    output: PathLike,
    numeric_threads: int,
    gpus: int = 0,
    scale: str = NO_SCALE,
    spec: Mapping[str, Any] | None = None,
) -> None:
    """Extract the features of one domain and write them as `Features`.

    An extractor of files reads the file `index`, with `fetched`, the record of the
    fetched files, if the data set is downloaded; one of published features reads
    `spec`, an entry on how the view is stored; a network with published weights reads
    the file `weights`, the record of the fetched file; one of visual words reads
    `codebook`, the file of `build_codebook`; and one of views reads `view`, features of
    the same domain. The `scale` is learnt from all rows of the domain
    (`cdspp.core.scaling.fit_scaling`).

    ConfigError: there is no such extractor or option, or a network finds none of the
    `gpus` that the job requests. DataError: a file is damaged or differs from the
    index, or the features are not finite.
    """
    tool = _loaded(extractor, options, files, gpus)
    columns, extra = None, dict[str, Any]()
    with devices.limit_threads(numeric_threads):
        if isinstance(tool, ViewExtractor):
            X, ids, record = _from_view(tool, files["view"])
        else:
            content = read_index(Path(files["index"]))
            rows = content.positions(domain)
            if isinstance(tool, Published):
                names = content.classes, content.labels(domain)
                X, extra = tool.read(content.root, spec or {}, *names, rows)
            elif isinstance(tool, TableColumns):
                X, columns = tool.read(content.root, domain, rows)
            elif isinstance(tool, WordExtractor):
                words = read_features(files["codebook"])
                X = tool.extract(_paths(content, domain, files), words.X)
                extra = {"codebook": dict(words.provenance)}
            elif isinstance(tool, FileExtractor):
                X, columns = tool.extract_named(_paths(content, domain, files))
            content.check(domain)
            ids = content.ids(domain)
            record = _record(tool, dataset=content.dataset, domain=domain, **extra)
        if scale != NO_SCALE:
            X = _scaled(X, scale, f"{extractor}, domain {domain}")
            record["scale"] = scale
    _write(output, X, ids, record, None if scale == PCA else columns)


def _loaded(
    name: str, options: Mapping[str, Any], files: Mapping[str, PathLike], gpus: int
) -> Extractor:
    """Return a loaded extractor, on the device that ``auto`` stands for in its job."""
    if "weights" in files:
        record = Path(files["weights"])
        [weights] = read_fetched(record)["files"]
        options = {**options, "weights": str(record.parent / str(weights))}
    tool = make_extractor(name, **options)
    if tool.needs_torch and getattr(tool, "device", None) == AUTO:
        tool = make_extractor(name, **{**options, "device": device_of_job(gpus)})
    _load(tool)
    return tool


def _load(extractor: Extractor) -> None:
    extractor.load()  # before the limit on threads, which affects only loaded libraries
    jobs.log_ready()


def _scaled(X: Any, scale: str, what: str) -> Any:
    try:
        return scaling.fit_scaling(scale, X).apply(X)
    except DataError as error:
        raise DataError(f"{what}: {error}") from error


def _paths(index: Index, domain: str, files: Mapping[str, PathLike]) -> list[Path]:
    if "fetched" not in files:
        return index.files(domain)
    paths = read_fetched(Path(files["fetched"]))["images"][domain]
    return [index.root / paths[position] for position in index.positions(domain)]


def _from_view(
    extractor: ViewExtractor, view: PathLike
) -> tuple[Any, Sequence[str], dict[str, Any]]:
    features = read_features(view)
    linalg.require_finite(features.X, features.ids, str(view))
    X, entries = extractor.reduce(features.X)
    record = _record(extractor, **entries, view=dict(features.provenance))
    return X, features.ids.tolist(), record


def _record(extractor: Extractor, **entries: Any) -> dict[str, Any]:
    return entries | {
        "extractor": extractor.identifier,
        "options": extractor.recorded_options(),
        "versions": extractor.versions(),
    }


def _write(
    output: PathLike, X: Any, ids: Sequence[str], record: Any, columns: Any = None
) -> None:
    linalg.require_finite(X, ids, str(output))
    write_features(output, Features(X, np.asarray(ids, np.str_), record, columns))
