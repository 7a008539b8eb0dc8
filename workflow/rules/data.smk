# Data: from a data set's name to its files in data/, and to the labels of a domain.
# Labels go to splits, scores and figures; no fit reads them.


localrules:
    fetch,
    prepare_dataset,


rule fetch:
    output:
        "data/{dataset}/{resource}.fetched.json",
    log:
        "logs/fetch/{dataset}/{resource}.log",
    benchmark:
        "benchmarks/fetch/{dataset}/{resource}.tsv"
    retries: 1
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=240,
    params:
        checks=resource_checks,
        catalogue=CATALOGUE,
    script:
        "../scripts/fetch.py"


rule prepare_dataset:
    output:
        "data/{dataset}/index.json",
    log:
        "logs/data/{dataset}.log",
    benchmark:
        "benchmarks/data/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        recipe=dataset_params,
        catalogue=CATALOGUE,
    script:
        "../scripts/prepare_dataset.py"


rule labels:
    input:
        "data/{dataset}/index.json",
    output:
        "results/labels/{dataset}/{domain}.parquet",
    log:
        "logs/labels/{dataset}/{domain}.log",
    benchmark:
        "benchmarks/labels/{dataset}/{domain}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=code_digest("cdspp.stages.data"),
    script:
        "../scripts/labels.py"
