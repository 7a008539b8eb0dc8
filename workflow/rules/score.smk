# Scores: predictions meet the labels of the test samples, one table a benchmark.


def predictions(wildcards):
    return [f"{file}.parquet" for file in fits_of(wildcards.benchmark)]


def target_labels(wildcards):
    domains = study.roles(wildcards.benchmark)["target"]
    return expand(LABELS, dataset=dataset_of(wildcards), domain=domains)


rule score:
    input:
        fits=predictions,
        labels=target_labels,
    output:
        SCORES,
    log:
        "logs/{study}/scores/{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code_digest("cdspp.stages.score"),
    script:
        "../scripts/score.py"
