"""Published data through the workflow: fetched, drawn as published, scored."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.io import savemat
from support.toy_study import CONFIG, Project

from cdspp.stages.formats import SCORE_COLUMNS, read_features, read_rows

CLASSES = ["cup", "hat", "pen"]
SIZES = {"shop": [9, 6, 8], "web": [10, 9, 7]}
N_WORDS, N_SHAPES = 12, 9

STUDY: dict[str, Any] = yaml.safe_load(
    """
    mirror: mirror
    datasets: []
    views:
      - {id: shapes, extractor: published, options: {name: shapes}}
      - {id: words, extractor: published, options: {name: words}}
      - id: words-pca
        extractor: pca
        view: words
        options: {n_components: {shop: 3, web: 4}}
    benchmarks:
      - id: things
        dataset: things
        source_view: words-pca
        target_view: shapes
        tasks: [shop_web, web_web]
        labels: {source: 4, target: 2}
        protocol: published
        overlap: keep
    methods:
      - {id: svm-t, options: {l2: false}}
      - id: cdspp
    curves: []
    deviations: []
    settings:
      - {id: no-overlap, overlap: exclude, methods: [cdspp], tasks: [web_web]}
    """
)

PAPER = "resources/studies/paper.yaml"
WANTED = ("results/toy/scores/things.parquet", "results/toy/tables/overlap_things.csv")
# Of the tasks that the paper's study has, four in which every domain is either.
OFFICE = ("caltech_amazon", "amazon_dslr", "dslr_webcam", "webcam_caltech")
HOME = ("art_clipart", "clipart_product", "product_realworld", "realworld_art")
FEW_TASKS = {
    "office-caltech": OFFICE,
    "office-home-vgg16-resnet50": HOME,
    "office-home-resnet50-vgg16": HOME,
}


def labels_of(domain: str) -> np.ndarray:
    return np.repeat(np.arange(1, 4), SIZES[domain])


def names_of(domain: str) -> list[str]:
    return [CLASSES[code - 1] for code in labels_of(domain)]


def write_mirror(folder: Path) -> None:
    """Write the published files of the toy data set: a matrix and bags of words."""
    rng = np.random.default_rng(0)
    for name in ("shapes", "words"):
        (folder / name).mkdir(parents=True)
    for domain in SIZES:
        codes = labels_of(domain)
        X = rng.random((len(codes), N_SHAPES)) + 3 * np.eye(3, N_SHAPES)[codes - 1]
        content = {"fts": X, "labels": codes[:, None]}
        savemat(folder / "shapes" / f"{domain}.mat", content)
        weights = rng.standard_normal((len(codes), N_WORDS))
        weights[np.arange(len(codes)), codes] += 4
        lines = [
            " ".join([name, *(f"{k}:{w:.4f}" for k, w in enumerate(row, start=1))])
            for name, row in zip(names_of(domain), weights, strict=True)
        ]
        (folder / "words" / domain).write_text("\n".join(lines) + "\n")


def catalogue_entry() -> dict[str, Any]:
    shapes: dict[str, Any] = {"resource": "shapes", "format": "mat", "X": "fts"}
    shapes |= {"labels": "labels", "label_base": 1, "width": N_SHAPES}
    shapes["file"] = {domain: f"shapes/{domain}.mat" for domain in SIZES}
    words: dict[str, Any] = {"resource": "words", "format": "words", "width": N_WORDS}
    words["file"] = {domain: f"words/{domain}" for domain in SIZES}
    resources = {
        name: {"ways": [{"files": [{"name": f} for f in view["file"].values()]}]}
        for name, view in (("shapes", shapes), ("words", words))
    }
    facts = dict.fromkeys(("title", "licence", "source", "content"), "toy")
    facts |= {"kind": "features", "classes": CLASSES, "class_sizes": SIZES}
    published = {"shapes": shapes, "words": words}
    return facts | {"published": published, "resources": resources}


@pytest.fixture(scope="module")
def finished(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(repository, tmp_path_factory.mktemp("published"))
    catalogue = project.folder / "resources" / "datasets.yaml"
    catalogue.write_text(
        catalogue.read_text() + yaml.safe_dump({"things": catalogue_entry()})
    )
    write_mirror(project.folder / "mirror")
    project.write_config(**STUDY)
    project.snakemake("--cores", "2", "--show-failed-logs", "--", *WANTED)
    return project


@pytest.fixture
def project(finished: Project) -> Iterator[Project]:
    yield finished
    finished.write_config(**STUDY)


def test_a_number_of_components_may_differ_by_domain(project: Project) -> None:
    for domain, number in {"shop": 3, "web": 4}.items():
        path = project.folder / f"results/features/things/{domain}.words-pca.npz"
        features = read_features(path)
        assert features.X.shape == (sum(SIZES[domain]), number)
        assert 0 < features.provenance["energy"] < 1
        assert features.provenance["view"]["storage"]["format"] == "words"


def test_samples_on_both_sides_are_kept_or_left_out_as_the_study_says(
    project: Project,
) -> None:
    path = project.folder / "results/toy/scores/things.parquet"
    scores = read_rows(path, SCORE_COLUMNS)
    within = scores["task"] == "web_web"
    kept = scores["n_samples"][within & (scores["setting"] == "main")]
    excluded = scores["n_samples"][within & (scores["setting"] == "no-overlap")]
    assert set(kept) == {20}
    assert set(excluded) == {14}  # of 4 source samples a class 2 are labelled targets
    assert set(scores["task"][scores["setting"] == "no-overlap"]) == {"web_web"}


def test_only_a_method_that_is_told_the_test_shares_reads_them(
    project: Project,
) -> None:
    told = {"id": "shfa", "prior_file": "test-shares"}
    project.write_config(**{**STUDY, "methods": [*STUDY["methods"], told]})
    jobs = [
        (job["rule_name"], " ".join(job["input"]), " ".join(job["output"]))
        for job in project.planned("--forceall").jobs
    ]
    inputs = {out: given for rule, given, out in jobs if rule.startswith("fit_")}
    readers = [name for name, given in inputs.items() if "test-shares" in given]
    assert readers
    assert readers == [name for name in inputs if "/shfa/" in name]
    assert not [given for given in inputs.values() if "results/labels" in given]
    labels = [rule for rule, given, _ in jobs if "results/labels" in given]
    assert {"test_shares", "split", "score"} <= set(labels)


def test_another_mirror_reruns_nothing(project: Project) -> None:
    project.write_config(**{**STUDY, "mirror": "elsewhere"})
    assert "Nothing to be done" in project.snakemake("-n", "--", *WANTED)


def test_a_copy_in_another_order_stops_the_run(project: Project) -> None:
    path = project.folder / "data/things/shapes/web.mat"
    whole = path.read_bytes()
    codes = labels_of("web")[::-1]
    savemat(path, {"fts": np.eye(26, N_SHAPES) + 1, "labels": codes[:, None]})
    try:
        wanted = "results/features/things/web.shapes.npz"
        output = project.snakemake("--force", "--cores", "1", wanted, ok=False)
    finally:
        path.write_bytes(whole)
    assert "cannot be paired with the published trials" in output


@pytest.mark.slow
def test_a_dry_run_of_the_paper_needs_no_data(project: Project) -> None:
    paper = yaml.safe_load((project.folder / PAPER).read_text())
    for benchmark in paper["benchmarks"]:
        if few := FEW_TASKS.get(benchmark["id"]):
            benchmark["tasks"] = list(few)
    for curve in paper["curves"]:
        curve["values"] = curve["values"][:2]
    (project.folder / "paper.yaml").write_text(yaml.safe_dump(paper))
    plan = project.planned("--configfile", "paper.yaml")
    assert plan.rules["fetch"] == 10
    assert plan.rules["features"] == 32
    assert plan.rules["labels"] == 15
    assert plan.rules["fit"] > 200


@pytest.mark.reference
def test_known_answers_of_office_caltech_through_the_workflow(
    repository: Path, tmp_path: Path, reference_folder: Path, mirror_folder: Path
) -> None:
    project = Project(repository, tmp_path)
    shipped = repository / "resources/studies/office-caltech.yaml"
    study = yaml.safe_load(shipped.read_text())
    benchmark = next(b for b in study["benchmarks"] if b["id"] == "surf-googlenet")
    tasks = {"amazon_dslr": "amazon_GoogleNet1024-dslr"}
    tasks |= {"caltech_webcam": "caltech10_GoogleNet1024-webcam"}
    views = [v for v in study["views"] if v["extractor"] == "published"]
    names = {"svm-t": "one_vs_one_l2", "cdspp-sup": "accuracy", "cdspp": "accuracy"}
    project.write_config(
        datasets=[],
        views=views,
        benchmarks=[benchmark | {"tasks": list(tasks), "showcase": "amazon_dslr"}],
        methods=[*CONFIG["methods"][:1], {"id": "cdspp-sup"}, {"id": "cdspp"}],
        settings=[],
        curves=[],
        deviations=[],
        trials=3,
        block_size=3,
        mirror=os.fspath(mirror_folder),
    )
    output = "results/toy/scores/surf-googlenet.parquet"
    project.snakemake("--show-failed-logs", "--cores", "2", output)
    scores = read_rows(project.folder / output, SCORE_COLUMNS)
    answers = json.loads((reference_folder / "known_answers.json").read_text())
    compared = 0
    for method, key in names.items():
        tolerance = 1 if method == "svm-t" else 0
        for task, case in tasks.items():
            for trial in (1, 2, 3):
                cell = (scores["method"] == method) & (scores["task"] == task)
                cell &= scores["trial"] == trial
                last = np.flatnonzero(cell)[scores["iteration"][cell].argmax()]
                known = answers[method]["results"][f"oc_surf-{case}_trial{trial}"][key]
                off = abs(scores["accuracy"][last] - known) * scores["n_samples"][last]
                assert off <= tolerance + 0.01, (method, task, trial)
                compared += 1
    assert compared == 18
