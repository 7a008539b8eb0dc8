# Fits: one method on one task for one block of trials; predictions only.
# Inputs are two views without labels and two splits without a test label.


def fit_input(wildcards):
    facts = study.benchmarks[wildcards.benchmark]
    source, target = wildcards.task.split("_")
    setting = study.split_setting(getattr(wildcards, "setting", MAIN))
    block = getattr(wildcards, "block", study.showcase_blocks()[0])
    splits = f"results/{wildcards.study}/splits/{wildcards.benchmark}/{setting}"
    return {
        "source_features": features_of(facts.dataset, source, facts.source_view),
        "target_features": features_of(facts.dataset, target, facts.target_view),
        "source_split": f"{splits}/source/{source}/{block}.parquet",
        "target_split": f"{splits}/target/{target}/{block}.parquet",
    }


def fit_params(wildcards):
    return {
        "options": study.method_options(wildcards.method, wildcards.setting),
        "source_change": study.settings[wildcards.setting].source,
        "seed": study.seed,
        "numeric_threads": study.numeric_threads,
    }


def method_digest(wildcards):
    return code_digest("cdspp.experiment", method_module(wildcards.method))


def showcase_options(wildcards):
    return study.method_options(REFERENCE, MAIN)


def showcase_digest(wildcards):
    return code_digest("cdspp.subspace", method_module(REFERENCE))


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
        mem_mb=2000,
        runtime=30,
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
        options=showcase_options,
        numeric_threads=numeric_threads,
        code=showcase_digest,
    script:
        "../scripts/subspace.py"
