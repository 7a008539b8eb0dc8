# Scores: predictions meet the labels of the test samples, one table a benchmark.


def cell_files(benchmark):
    files = [
        f"{RESULTS}/fits/{'/'.join(cell)}.parquet" for cell in study.cells(benchmark)
    ]
    return [file for file in files if Path(file).exists()] if study.partial else files


def fit_files(wildcards):
    return cell_files(wildcards.benchmark)


def target_labels(wildcards):
    dataset = study.benchmarks[wildcards.benchmark].dataset
    domains = study.target_domains(wildcards.benchmark)
    return [labels_of(dataset, domain) for domain in domains]


rule score:
    input:
        fits=fit_files,
        labels=target_labels,
    output:
        "results/{study}/scores/{benchmark}.parquet",
    log:
        "logs/{study}/scores/{benchmark}.log",
    benchmark:
        "benchmarks/{study}/scores/{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code_digest("cdspp.evaluation"),
    script:
        "../scripts/score.py"
