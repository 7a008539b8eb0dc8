# Fits: one method on one task for one block of trials; predictions only.
# Inputs are two views without labels and two splits without a test label.


rule fit:
    input:
        unpack(fit_input),
    output:
        predictions="results/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}.parquet",
        record="results/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}.json",
    log:
        "logs/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}.log",
    benchmark:
        "benchmarks/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=fit_memory,
        runtime=fit_minutes,
    params:
        fit=fit_params,
        code=method_digest,
    script:
        "../scripts/fit.py"


rule subspace:
    input:
        unpack(fit_input),
    output:
        "results/{study}/subspace/{benchmark}/{task}.npz",
    log:
        "logs/{study}/subspace/{benchmark}/{task}.log",
    benchmark:
        "benchmarks/{study}/subspace/{benchmark}/{task}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        method=REFERENCE,
        overlap=showcase_overlap,
        options=showcase_options,
        numeric_threads=numeric_threads,
        code=showcase_digest,
    script:
        "../scripts/subspace.py"
