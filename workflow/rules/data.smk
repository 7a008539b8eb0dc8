# Data: from a data set's name to its files in data/, and to the labels of a domain.
# Labels go to splits, scores and figures; no fit reads them.

from cdspp.datasets.catalogue import checks_of


def resource_checks(wildcards):
    return checks_of(CATALOGUE, wildcards.dataset, wildcards.resource)


rule fetch:
    input:
        no_input,
    output:
        FETCHED,
    log:
        "logs/fetch/{dataset}/{resource}.log",
    retries: 1
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        runtime=240,
    params:
        checks=resource_checks,
    script:
        "../scripts/fetch.py"


def own_data(wildcards):
    return study.datasets[wildcards.dataset].own


rule prepare_dataset:
    input:
        no_input,
    output:
        INDEX,
        f"{INDEX}.json",
    log:
        "logs/data/{dataset}.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        own=own_data,
        made_of=made_of(INDEX),
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
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        made_of=made_of(LABELS),
    script:
        "../scripts/labels.py"
