# Fits: methods on one task for one batch of trials; predictions only.
# Inputs are views without labels and splits without test labels. The only exception is
# named: a method with `prior_file: test-shares` receives the class shares of the test
# samples, numbers that the rule test_shares counts.

from functools import cache, partial

from cdspp.core.names import FitKey
from cdspp.study.files import FIT_LOG
from cdspp.study.fit_jobs import (
    fit_rules,
    fit_request,
    longest_seconds,
    runs_ungrouped,
)


rule test_shares:
    input:
        unpack(inputs_of(SHARES)),
    output:
        SHARES,
        f"{SHARES}.json",
    log:
        "logs/{study}/test-shares/{benchmark}/{setting}/{domain}/{block}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        runtime=1,
    params:
        specification=specification_of(SHARES),
    script:
        "../scripts/test_shares.py"


# One job makes the fits of a group that reads the same files: one method in all settings,
# or several quick methods, because starting up takes longer than most fits. Existing files
# are updated, not removed: a fit with the same inputs, options and code is kept, so that an
# added or edited method or setting costs only its own fits.


def with_own_predictions(files):
    # External predictions are the user's files, which are not in storage.
    own = {"predictions"} & files.keys() if NO_SHARED_DISK else ()
    return files | {name: local(files[name]) for name in own}


def fit_input(group, wildcards):
    known = {"task": wildcards.task, "block": wildcards.block}
    return with_own_predictions(files_of_fit(study, group.fits[0]._replace(**known)))


def fit_output(group, extension):
    # Paths that begin with names, not wildcards, are found faster among many rules.
    files = [FIT.format(study=study.name, **cell._asdict()) for cell in group.fits]
    return updated([f"{file}.{extension}" for file in files])


@cache
def fit_asks(group, task, block, attempt):
    return fit_request(study, group, task, block, attempt)


def fit_resource(name, group, wildcards, attempt):
    asks = fit_asks(group, wildcards.task, wildcards.block, attempt)
    return getattr(asks, name)


def fit_values(group):
    """Return the values of the fits of a group, as a parameter that reruns no job.

    Snakemake records no function of outputs, and `stale` compares fits one by one, so
    that a job neither runs for fewer trials nor because its methods share another job.
    Where no disk is shared it does not see them, and Snakemake compares all values.
    """
    values = [job_values(specifications.of_fit(key)) for key in group.fits]

    def unrecorded(wildcards, output):
        return values

    return values if NO_SHARED_DISK else unrecorded


def fit_message(group):
    # Those that are made this time, as far as is known; jobs need no message.
    methods = fits_ahead.methods(group.fits) if is_main_process else []
    where = "task {wildcards.task}, trials {wildcards.block}"
    names = ", ".join(methods or group.methods)
    return f"Fits of {names}: {group.fits[0].benchmark}, {where}"


for group in fit_rules(study):
    first = group.fits[0]

    rule:
        name:
            group.name
        input:
            unpack(partial(fit_input, group)),
        output:
            predictions=fit_output(group, "parquet"),
            record=fit_output(group, "json"),
        log:
            FIT_LOG.format(study=study.name, **first._asdict()),
        wildcard_constraints:
            task=one_of(group.tasks),
            block=one_of(group.blocks),
        # Long jobs start first, so that no job runs alone at the end.
        priority: longest_seconds(study, group)
        group:
            None if runs_ungrouped(study, group) else "fits"
        conda:
            "../../envs/environment.yaml"
        threads: study.numeric_threads
        resources:
            mem_mb=partial(fit_resource, "megabytes", group),
            runtime=partial(fit_resource, "minutes", group),
            gpu=partial(fit_resource, "gpus", group),
        params:
            benchmark=first.benchmark,
            fits=fit_values(group),
        message:
            fit_message(group)
        script:
            "../scripts/fit.py"


rule subspace:
    input:
        unpack(inputs_of(SUBSPACE)),
    output:
        SUBSPACE,
        f"{SUBSPACE}.json",
    log:
        "logs/{study}/subspace/{benchmark}/{task}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        specification=specification_of(SUBSPACE),
    script:
        "../scripts/subspace.py"
