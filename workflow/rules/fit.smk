# Fits: one method on one task for one block of trials; predictions only.
# Inputs are two views without labels and two splits without a test label. The one
# exception has a name: a method with `prior_file: test-shares` is told the shares of the
# classes among the test samples, numbers that the rule test_shares counts.

from cdspp.core.names import trials_of_block
from cdspp.study.cost import job_cost


def fit_input(wildcards):
    name, benchmark = wildcards.benchmark, study.benchmarks[wildcards.benchmark]
    setting = getattr(wildcards, "setting", MAIN)
    method = getattr(wildcards, "method", REFERENCE)
    block = getattr(wildcards, "block", study.showcase_blocks()[0])
    views = {
        "source": study.source_view(name, setting, method),
        "target": benchmark.target_view,
    }
    files = {}
    for (role, view), domain in zip(views.items(), wildcards.task.split("_")):
        files[f"{role}_features"] = FEATURES.format(
            dataset=benchmark.dataset, domain=domain, view=view
        )
        files[f"{role}_split"] = SPLIT.format(
            study=study.name,
            benchmark=wildcards.benchmark,
            setting=study.split_setting(setting, role),
            role=role,
            domain=domain,
            block=block,
        )
    if study.prior_file(setting, method) is not None:
        files["prior"] = SHARES.format(
            study=study.name,
            benchmark=name,
            setting=study.split_setting(setting, "target"),
            domain=domain,
            block=block,
        )
    return files


rule test_shares:
    input:
        labels=domain_labels,
        split=SPLIT.replace("{role}", "target"),
    output:
        SHARES,
    log:
        "logs/{study}/test-shares/{benchmark}/{setting}/{domain}/{block}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_digest("cdspp.stages.shares"),
    script:
        "../scripts/test_shares.py"


def fit_cost(wildcards):
    names = (wildcards.benchmark, wildcards.setting, wildcards.task, wildcards.method)
    return job_cost(study, *names, len(trials_of_block(wildcards.block)))


def fit_memory(wildcards):
    return fit_cost(wildcards).megabytes


def fit_minutes(wildcards):
    return fit_cost(wildcards).minutes


def fit_options(wildcards):
    return {
        "options": study.method_options(wildcards.method, wildcards.setting),
        "source_change": study.settings[wildcards.setting].source,
        "overlap": study.overlap(wildcards.benchmark, wildcards.setting),
        "seed": study.seed,
        "numeric_threads": study.numeric_threads,
    }


def method_digest(wildcards):
    return code_digest("cdspp.stages.fit", method_module(wildcards.method))


rule fit:
    input:
        unpack(fit_input),
    output:
        predictions=f"{FIT}.parquet",
        record=f"{FIT}.json",
    log:
        "logs/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=fit_memory,
        runtime=fit_minutes,
    params:
        fit=fit_options,
        code=method_digest,
    script:
        "../scripts/fit.py"


def main_overlap(wildcards):
    return study.overlap(wildcards.benchmark, MAIN)


rule subspace:
    input:
        unpack(fit_input),
    output:
        SUBSPACE,
    log:
        "logs/{study}/subspace/{benchmark}/{task}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        method=REFERENCE,
        overlap=main_overlap,
        options=(
            study.method_options(REFERENCE, MAIN) if REFERENCE in study.methods else {}
        ),
        numeric_threads=study.numeric_threads,
        code=code_digest("cdspp.stages.subspace", method_module(REFERENCE)),
    script:
        "../scripts/subspace.py"
