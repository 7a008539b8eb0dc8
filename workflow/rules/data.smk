# Data: from a data set's name to its files in data/, and to the labels of a domain.
# Labels go to splits, scores and figures; no fit reads them.

from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import digests_path
from cdspp.datasets.catalogue import checks_of


localrules:
    fetch,
    prepare_dataset,
    labels,


def resource_checks(wildcards):
    return checks_of(CATALOGUE, wildcards.dataset, wildcards.resource)


rule fetch:
    output:
        FETCHED,
    log:
        "logs/fetch/{dataset}/{resource}.log",
    retries: 1
    conda:
        "../../envs/environment.yaml"
    resources:
        runtime=240,
    params:
        checks=resource_checks,
    script:
        "../scripts/fetch.py"


def recipe(wildcards):
    dataset = study.datasets[wildcards.dataset]
    memory = digests_path("data", dataset.identifier)
    found = dataset_recipe(dataset.identifier, dataset.own, dataset.entry, memory)
    return {**found, "code": code_digest("cdspp.stages.data", found["module"])}


rule prepare_dataset:
    output:
        INDEX,
    log:
        "logs/data/{dataset}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        recipe=recipe,
    script:
        "../scripts/prepare_dataset.py"


rule labels:
    input:
        INDEX,
    output:
        LABELS,
        f"{LABELS}.json",
    log:
        "logs/labels/{dataset}/{domain}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        made_of=made_of(code_digest("cdspp.stages.data")),
    script:
        "../scripts/labels.py"
