# Splits: which samples are labelled in each trial of a block, per domain and role.
# The file of a target holds no label of a test sample.


rule split:
    input:
        split_labels,
    output:
        "results/{study}/splits/{benchmark}/{setting}/{role}/{domain}/{block}.parquet",
    log:
        "logs/{study}/splits/{benchmark}/{setting}/{role}/{domain}/{block}.log",
    benchmark:
        "benchmarks/{study}/splits/{benchmark}/{setting}/{role}/{domain}/{block}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        dataset=dataset_of,
        draw=draw_params,
        code=code_digest("cdspp.stages.splits"),
    script:
        "../scripts/split.py"
