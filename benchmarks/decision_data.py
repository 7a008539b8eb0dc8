"""Data of `benchmarks.decision_families`: objects described in two ways, by class.

Each function creates its data once per process. Data that do not come from
scikit-learn, SciPy or the package are fetched, or read from the mirror CDSPP_MIRROR.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy.sparse import issparse

from cdspp.datasets import make_dataset
from cdspp.datasets.base import read_fetched
from cdspp.datasets.catalogue import load_catalogue, published_spec
from cdspp.datasets.docs_to_code import DocsToCode
from cdspp.datasets.published import published_labels
from cdspp.datasets.resources import fetch_resource
from cdspp.features import make_extractor
from cdspp.features.precomputed import read_matrix
from cdspp.methods.base import UNLABELLED, Float, Int

__all__ = [
    "Sides",
    "diabetes",
    "docs_and_code",
    "embedded_digits",
    "functions",
    "generated",
    "photographs",
    "photographs_words",
    "requests",
    "reuters",
    "table",
    "tags",
]

CATALOGUE = Path(__file__).parents[1] / "resources" / "datasets.yaml"
FIRST_INTENTS = 60
N_WORDS = 300  # most frequent words of each side, if words are the columns
N_COMPONENTS = 60
HIGH_PROGRESSION = 0.75  # quantile from which diabetes progresses fast
# Of the generator of tables.
GENERATED = {"n_samples": 900, "n_features": 200, "n_informative": 12}
GENERATED_SHARES = [0.45, 0.3, 0.15, 0.1]
Table = tuple[Float, Int]


class Sides(NamedTuple):
    """Rows of two domains.

    Attributes
    ----------
    X : tuple of two ndarrays of shape (n, d)
        Rows of the source and of the target, which have different features.
    codes : tuple of two ndarrays of shape (n,)
        Codes of their classes.
    pairs : tuple of two ndarrays, optional
        Further objects described in both ways, without a class.
    shared : list of pairs, optional
        Numbers of the columns that both domains have.
    """

    X: tuple[Float, Float]
    codes: tuple[Int, Int]
    pairs: tuple[Float, Float] | None = None
    shared: list[tuple[int, int]] | None = None


def _codes(labels: Sequence[str], classes: Sequence[str]) -> Int:
    places = {name: code for code, name in enumerate(classes)}
    codes = [places.get(name, UNLABELLED) for name in labels]
    return np.array(codes, dtype=np.intp)


def _components(X: Float, n_components: int) -> Float:
    reducer: Any = make_extractor("pca", n_components=n_components)
    return np.asarray(reducer.reduce(X)[0], dtype=float)


def _latent(X: Any, n_components: int) -> Float:
    """Return latent components of sparse rows, without labels."""
    from sklearn.decomposition import TruncatedSVD

    reducer = TruncatedSVD(n_components, random_state=0)
    return np.asarray(reducer.fit_transform(X), dtype=float)


class LibraryToCode(DocsToCode):
    """`DocsToCode` on scikit-learn, with twenty subpackages as classes."""

    identifier = "library-to-code"
    classes = (
        *("cluster", "compose", "covariance", "decomposition", "ensemble"),
        *("feature_extraction", "feature_selection", "gaussian_process", "impute"),
        *("inspection", "linear_model", "manifold", "metrics", "mixture"),
        *("model_selection", "neighbors", "neural_network", "preprocessing"),
        *("svm", "tree"),
    )
    packages = ("scikit-learn",)
    library = sklearn


def table(name: str) -> Table:
    """Return rows and classes of a table of scikit-learn."""
    from sklearn import datasets

    X, codes = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, codes


def diabetes() -> Table:
    """Return patients, by whether their diabetes progresses fast."""
    X, progression = table("diabetes")
    bound = np.quantile(progression, HIGH_PROGRESSION)
    return X, (progression > bound).astype(np.intp)


@cache
def generated() -> Table:
    """Return a wide table of the generator of scikit-learn, with unequal classes."""
    from sklearn.datasets import make_classification

    shares = {"n_classes": len(GENERATED_SHARES), "weights": GENERATED_SHARES}
    X, codes = make_classification(
        **GENERATED, **shares, n_redundant=30, class_sep=2.0, random_state=0
    )
    return X, codes


def docs_and_code(by_words: bool) -> Sides:
    """Return docstrings of SciPy and bodies of other functions, by subpackage.

    Columns are the most frequent words of each side, many of which are in both, or
    latent components, which share nothing.
    """
    return _texts_and_code(DocsToCode, by_words)


def functions() -> Sides:
    """Return docstrings and bodies of scikit-learn by their most frequent words."""
    return _texts_and_code(LibraryToCode, True)


@cache
def _texts_and_code(kind: type[DocsToCode], by_words: bool) -> Sides:
    data, extractor = kind(), _extractor("text")
    X, names, codes = [], [], []
    with TemporaryDirectory() as folder:
        index = data.prepare(Path(folder, data.identifier))
        for domain in data.domains:
            weights, words = extractor.extract_named(index.files(domain))
            codes_of_domain = _codes(index.labels(domain), data.classes)
            rows = np.flatnonzero(codes_of_domain != UNLABELLED)
            codes.append(codes_of_domain[rows])
            if by_words:
                counts = np.asarray((weights > 0).sum(axis=0)).ravel()
                columns = np.sort(np.argsort(-counts, kind="stable")[:N_WORDS])
                names.append(words[columns].tolist())
                X.append(weights[:, columns].toarray().astype(float)[rows])
            else:
                X.append(_latent(weights, N_COMPONENTS)[rows])
    shared = None
    if by_words:
        places = {word: k for k, word in enumerate(names[1])}
        shared = [(k, places[w]) for k, w in enumerate(names[0]) if w in places]
    return Sides((X[0], X[1]), (codes[0], codes[1]), shared=shared)


def _extractor(name: str, **options: Any) -> Any:
    extractor = make_extractor(name, **options)
    extractor.load()
    return extractor


@cache
def embedded_digits() -> Sides:
    """Return digits of `config.yaml`: prints by visual words, sketches by a network.

    The network is untrained; its activations are reduced to 50 components.
    """
    data = make_dataset("digits")
    words = _extractor("visual-words", codebook_domain="print")
    network = _extractor("cnn")
    with TemporaryDirectory() as folder:
        index = data.prepare(Path(folder, data.identifier))
        prints, sketches = index.files("print"), index.files("sketch")
        counts = words.extract(prints, words.fit_codebook(prints)).astype(float)
        components = _components(network.extract(sketches), 50)
    places = {sample.id: k for k, sample in enumerate(index.samples("print"))}
    places_of_pairs = [
        (places[sample.id], k)
        for k, sample in enumerate(index.samples("sketch"))
        if sample.paired
    ]
    first, second = (_codes(index.labels(d), data.classes) for d in ("print", "sketch"))
    return _with_pairs((counts, components), (first, second), np.array(places_of_pairs))


def _with_pairs(
    X: tuple[Float, Float], codes: tuple[Int, Int], places_of_pairs: Int
) -> Sides:
    """Separate the rows of classes from those of pairs."""
    source_rows, target_rows = (np.flatnonzero(side != UNLABELLED) for side in codes)
    return Sides(
        (X[0][source_rows], X[1][target_rows]),
        (codes[0][source_rows], codes[1][target_rows]),
        (X[0][places_of_pairs[:, 0]], X[1][places_of_pairs[:, 1]]),
    )


@cache
def requests() -> Sides:
    """Return requests of the first intents of CLINC150, described by two models.

    The old model is latent components of words, the new one of character n-grams; the
    requests that both describe are pairs.
    """
    entry = load_catalogue(CATALOGUE)["clinc150"]
    first = entry["classes"][:FIRST_INTENTS]
    # The first texts of each intent are the pairs, in the order of intents.
    quotient, remainder = divmod(entry["paired"], len(entry["classes"]))
    n_pairs = sum(quotient + (number < remainder) for number in range(len(first)))
    models = {
        "old": (_extractor("text"), 100),
        "new": (
            _extractor("text", tokens="characters", ngram=4, max_features=5000),
            150,
        ),
    }
    X, codes, n_class_rows = [], [], []
    with TemporaryDirectory() as folder:
        record = _fetch_record("clinc150", "texts", folder)
        for domain, (extractor, n_components) in models.items():
            paths = read_fetched(record)["images"][domain]
            labels = published_labels(entry, domain)
            class_rows = [k for k, label in enumerate(labels) if label in first]
            rows = [*class_rows, *range(len(labels), len(labels) + n_pairs)]
            weights = extractor.extract([record.parent / paths[k] for k in rows])
            X.append(_latent(weights, n_components))
            codes.append(
                _codes([*labels, *[""] * n_pairs], first)[rows[: len(class_rows)]]
            )
            n_class_rows.append(len(class_rows))
    (old, new), (n_old, n_new) = X, n_class_rows
    pairs = old[n_old:], new[n_new:]
    return Sides((old[:n_old], new[:n_new]), (codes[0], codes[1]), pairs)


def _fetch_record(dataset: str, resource: str, folder: str) -> Path:
    """Fetch a resource into a folder, and return its record."""
    record = Path(folder, dataset, f"{resource}.fetched.json")
    fetch_resource(
        dataset=dataset, resource=resource, catalogue=CATALOGUE, output=record
    )
    return record


@cache
def photographs(source: tuple[str, str], target: tuple[str, str]) -> Sides:
    """Return published features of Office-Caltech, by (view, domain), reduced."""
    rows, codes = _published_sides("office-caltech-10", source, target)
    X = _components(rows[0], N_COMPONENTS), _components(rows[1], N_COMPONENTS)
    return Sides(X, codes)


@cache
def photographs_words(source: str, target: str, n_words: int) -> Sides:
    """Return counts of the visual words that are the most frequent in two domains."""
    views = ("surf", source), ("surf", target)
    (first, second), codes = _published_sides("office-caltech-10", *views)
    counts = (first > 0).mean(axis=0) + (second > 0).mean(axis=0)
    words = np.sort(np.argsort(-counts, kind="stable")[:n_words])
    shared = [(number, number) for number in range(n_words)]
    return Sides((first[:, words], second[:, words]), codes, shared=shared)


@cache
def reuters(source: str, target: str) -> Sides:
    """Return documents in two languages, row by row the same, as latent components."""
    views = ("words", source), ("words", target)
    (first, second), codes = _published_sides("reuters-600", *views)
    return Sides((_latent(first, N_COMPONENTS), _latent(second, N_COMPONENTS)), codes)


@cache
def tags() -> Table:
    """Return tags of photographs as activations of a network."""
    (X, _), (codes, _) = _published_sides("nus-imagenet", *[("tags", "tags")] * 2)
    return X, codes


def _published_sides(
    dataset: str, *views: tuple[str, str]
) -> tuple[tuple[Any, Any], tuple[Int, Int]]:
    """Return rows and classes of two (view, domain) of a published data set."""
    entry = load_catalogue(CATALOGUE)[dataset]
    sides = []
    for view in views:
        spec: Any = published_spec(entry, *view)
        with TemporaryDirectory() as folder:
            record = _fetch_record(dataset, spec["resource"], folder)
            path = record.parent / spec["file"]
            X, names = read_matrix(path, spec, entry["classes"])
        rows = X if issparse(X) else np.asarray(X, dtype=float)
        sides.append((rows, _codes(names.tolist(), entry["classes"])))
    (X_source, codes), (X_target, truth) = sides
    return (X_source, X_target), (codes, truth)
