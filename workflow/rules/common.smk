# The validated study, and what the rules ask of it: constraints of wildcards, and
# inputs and parameters named after their value. Each helper asks the library.

from pathlib import Path

from cdspp.config import load_study
from cdspp.datasets import dataset_recipe
from cdspp.errors import ConfigError
from cdspp.features import extractor_module, needs_codebook
from cdspp.methods import method_module
from cdspp.provenance import code_digest
from cdspp.study import MAIN, REFERENCE

CATALOGUE = str(Path(workflow.basedir, "resources/datasets.yaml"))

try:
    study = load_study(
        config,
        schema=Path(workflow.basedir, "workflow/schemas/config.schema.yaml"),
        catalogue=CATALOGUE,
    )
except ConfigError as error:
    raise WorkflowError(str(error))

RESULTS = f"results/{study.name}"
IDENTIFIER = "[a-z0-9]+(?:-[a-z0-9]+)*"


def one_of(names):
    return "|".join(sorted(names)) or "(?!)"


wildcard_constraints:
    dataset=one_of(study.datasets),
    domain=IDENTIFIER,
    view=one_of(study.views),
    benchmark=one_of(study.benchmarks),
    setting=one_of(study.settings),
    role="source|target",
    task=f"{IDENTIFIER}_{IDENTIFIER}",
    method=one_of(study.methods),
    block="[0-9]+-[0-9]+",


def index_of(dataset):
    return f"data/{dataset}/index.json"


def features_of(dataset, domain, view):
    return f"results/features/{dataset}/{domain}.{view}.npz"


def labels_of(dataset, domain):
    return f"results/labels/{dataset}/{domain}.parquet"


def feature_files(wildcards):
    return [features_of(*names) for names in study.feature_names()]


def study_facts(wildcards):
    return {"config": dict(config), "logs": study.logs(), **study.facts()}


def layout_of(wildcards):
    return study.layout(wildcards.benchmark)


def all_layouts(wildcards):
    return [study.layout(benchmark) for benchmark in study.benchmarks]


def all_scores(wildcards):
    return [f"{RESULTS}/scores/{benchmark}.parquet" for benchmark in study.benchmarks]


def showcase(wildcards):
    return study.benchmarks[wildcards.benchmark].showcase


def numeric_threads(wildcards):
    return study.numeric_threads
