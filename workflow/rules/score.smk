# Scores: predictions meet the labels of the test samples, one table a benchmark.


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
        code=code_digest("cdspp.stages.score"),
    script:
        "../scripts/score.py"
