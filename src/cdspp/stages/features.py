"""Codebooks and views of domains as NPZ files, without labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core import jobs, linalg, provenance, scaling
from cdspp.core.devices import AUTO, device_of_job
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.names import NO_SCALE, PCA, PathLike
from cdspp.datasets.base import Index, read_fetched, read_index
from cdspp.features import make_extractor
from cdspp.features.base import Extractor, FileExtractor, ViewExtractor, WordExtractor
from cdspp.features.precomputed import Published, TableColumns
from cdspp.stages.formats import Features, read_features, write_features


def build_codebook(
    *,
    index: PathLike,
    extractor: str,
    options: Mapping[str, Any],
    output: PathLike,
    numeric_threads: int,
    fetched: PathLike | None = None,
) -> None:
    """Learn the codebook of `extractor`, one word per row, from the domain it names.

    `fetched` is as in `extract_view`. ConfigError: the extractor has no codebook, or
    its options name no domain. DataError: the files cannot be read or are too few.
    """
    tool = make_extractor(extractor, **options)
    if not isinstance(tool, WordExtractor):
        raise ConfigError(f"extractor {extractor} has no codebook.")
    if tool.codebook_domain is None:
        raise tool.refuse("codebook_domain", "the name of a domain")
    content = _matching_index(index, tool)
    domain = tool.codebook_domain
    _load(tool)
    with provenance.limit_threads(numeric_threads):
        words = tool.fit_codebook(_files(content, domain, fetched))
    content.check(domain)
    names = [f"word-{number}" for number in range(len(words))]
    record = _record(tool, dataset=content.dataset, domain=domain)
    _write(output, words, names, record)


def extract_view(
    *,
    extractor: str,
    options: Mapping[str, Any],
    domain: str,
    output: PathLike,
    numeric_threads: int,
    gpus: int = 0,
    scale: str = NO_SCALE,
    index: PathLike | None = None,
    fetched: PathLike | None = None,
    spec: Mapping[str, Any] | None = None,
    weights: PathLike | None = None,
    codebook: PathLike | None = None,
    view: PathLike | None = None,
) -> None:
    """Extract the features of one domain and write them as `Features`.

    An extractor of files reads `index`, with `fetched`, the record of the fetched
    files, if the data set is downloaded; one of published features reads `spec`, an
    entry on how the view is stored; a network with published weights reads `weights`,
    the record of the fetched file; one of visual words reads the file of
    `build_codebook`; and one of views reads `view`, features of the same domain. The
    `scale` is learnt from all rows of the domain (`cdspp.core.scaling.fit_scaling`).

    ConfigError: there is no such extractor or option, a required file is not given, or
    a network finds none of the `gpus` that the job requests. DataError: a file is
    damaged or differs from the index, or the features are not finite.
    """
    if weights is not None:
        (name,) = read_fetched(Path(weights))["files"]
        options = {**options, "weights": str(Path(weights).parent / str(name))}
    tool, columns, more = _loaded(extractor, options, gpus), None, dict[str, Any]()
    with provenance.limit_threads(numeric_threads):
        if isinstance(tool, ViewExtractor):
            X, ids, record = _from_view(tool, view)
        else:
            content = _matching_index(index, tool)
            if isinstance(tool, Published):
                X, more = _from_published(tool, content, domain, spec)
            elif isinstance(tool, TableColumns):
                X, columns = tool.read(content.root, domain, content.positions(domain))
            else:
                files = _files(content, domain, fetched)
                X, columns, more = _from_files(tool, files, codebook)
            content.check(domain)
            ids = content.ids(domain)
            record = _record(tool, dataset=content.dataset, domain=domain, **more)
        if scale != NO_SCALE:
            X = _scaled(X, scale, f"{extractor}, domain {domain}")
            record["scale"] = scale
    _write(output, X, ids, record, None if scale == PCA else columns)


def _loaded(name: str, options: Mapping[str, Any], gpus: int) -> Extractor:
    """Return a loaded extractor, on the device that ``auto`` stands for in its job."""
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


def _files(index: Index, domain: str, fetched: PathLike | None) -> list[Path]:
    if fetched is None:
        return index.files(domain)
    paths = read_fetched(Path(fetched))["images"][domain]
    return [index.root / paths[position] for position in index.positions(domain)]


def _from_published(
    extractor: Published, index: Index, domain: str, spec: Mapping[str, Any] | None
) -> tuple[Any, dict[str, Any]]:
    if spec is None:
        message = f"extractor published: {extractor.name} is not published for"
        raise ConfigError(f"{message} {index.dataset}, domain {domain}.")
    labels, positions = index.labels(domain), index.positions(domain)
    return extractor.read(index.root, spec, index.classes, labels, positions)


def _from_view(
    extractor: ViewExtractor, view: PathLike | None
) -> tuple[Any, Sequence[str], dict[str, Any]]:
    features = read_features(_required_path(extractor, "view", view))
    linalg.require_finite(features.X, features.ids, str(view))
    X, entries = extractor.reduce(features.X)
    record = _record(extractor, **entries, view=dict(features.provenance))
    return X, features.ids.tolist(), record


def _from_files(
    extractor: Extractor, files: Sequence[Path], codebook: PathLike | None
) -> tuple[Any, Any, dict[str, Any]]:
    if isinstance(extractor, WordExtractor):
        words = read_features(_required_path(extractor, "codebook", codebook))
        learnt = {"codebook": dict(words.provenance)}
        return extractor.extract(files, words.X), None, learnt
    assert isinstance(extractor, FileExtractor)
    return *extractor.extract_named(files), {}


def _matching_index(path: PathLike | None, extractor: Extractor) -> Index:
    index = read_index(Path(_required_path(extractor, "index", path)))
    if extractor.kind not in (index.kind, Published.kind):
        message = f"extractor {extractor.identifier} reads {extractor.kind}, but the"
        raise ConfigError(f"{message} data set {index.dataset} holds {index.kind}.")
    return index


def _required_path(extractor: Extractor, what: str, path: PathLike | None) -> PathLike:
    if path is None:
        raise ConfigError(f"extractor {extractor.identifier} needs a file: {what}.")
    return path


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
