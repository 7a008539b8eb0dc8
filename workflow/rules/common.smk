# Shared parts of the rule files: the validated study, the paths of its files, and the
# values of wildcards. Functions are named after their value and defined near their use.

import os
import re
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

from snakemake.logging import logger

from cdspp.core import snakemake_internals
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.names import MAIN, fit_key, task_domains
from cdspp.core.code_digests import code_digest
from cdspp.core.run_lock import (
    KEEP_FITS,
    ORPHANED_JOBS_NOTE,
    export_run_lock,
    code_state,
    lock_run,
    require_posix,
)
from cdspp.core.screen import guard_screen, printable_record
from cdspp.report.registry import KINDS, names_of_kind
from cdspp.study.config import load_study, merge_files, merge_presets
from cdspp.study.files import (
    CODEBOOK,
    FEATURES,
    FETCHED,
    FIT,
    INDEX,
    LABELS,
    PAIR_SPLIT,
    SAMPLE_SCORES,
    SCORES,
    SHARES,
    SPLIT,
    SUBSPACE,
    files_after_fits,
    fit_files,
    feature_file,
    files_of_fit,
    label_file,
    prediction_files,
    study_command,
    portable_study_path,
    workflow_folder,
)
from cdspp.study.fit_jobs import check_own_files, expected_seconds, missing_packages
from cdspp.study.plan import plan_of
from cdspp.study.plugins import plugin_classes
from cdspp.study.run_forecast import reasons_of_run, remake_question, run_forecast
from cdspp.study.specifications import Specifications, job_values
from cdspp.study.stale import (
    changed_note,
    edited_outputs,
    stale,
    unrecorded_files,
)

# A text of the user steers no terminal: neither a message, nor what own classes print.
logger.addFilter(printable_record)
guard_screen()

# Resources of the library, wherever the rules are: a module's rules may be in a repository.
# No parameter contains their path, so that moving the folder changes nothing: scripts ask
# the library for it, and digests identify the content.
TOP = workflow_folder()
RESOURCES = TOP / "resources"
CATALOGUE = RESOURCES / "datasets.yaml"

configfiles, config_values = snakemake_internals.command_line_config(workflow)
study_files = [portable_study_path(file) for file in configfiles]
# In a module, its `config:` is the study, whatever else the caller configures.
is_module = snakemake_internals.is_module(workflow)
is_main_process = snakemake_internals.is_main_process(workflow)
# With a shared disk, an index, a record of fetched files or a fit represents the files next
# to it: digests tell whether these are unchanged, and a job may read them. With storage, a
# job sees only what its rule declares, so everything is declared.
NO_SHARED_DISK = snakemake_internals.has_storage(workflow)
COMMAND = "snakemake --cores 8" if is_module else study_command(study_files)

try:
    require_posix()
    if is_module:
        own = config
    else:  # read again: Snakemake accepts repeated keys
        usual = [Path("config.yaml"), TOP / "config.yaml"]
        files = configfiles or [next(filter(Path.is_file, usual))]
        own = merge_files(files, config_values)
    merged, preset_notes = merge_presets(own, TOP)
    for note in preset_notes if is_main_process else ():
        logger.warning(note)
    study = load_study(merged, TOP, data="data")
except ConfigError as error:
    where = "config: of the module statement: " if is_module else ""
    raise WorkflowError(f"{where}{error}")

config = dict(merged)  # the caller keeps its own

if config.get("container"):

    container: config["container"]


specifications = Specifications(study)
to_remake = set()  # existing files, remade if the run reaches them

if is_main_process:  # jobs also read this file
    # Taken before Snakemake's own lock, and held until the end.
    try:
        own_lock = lock_run(code=code_state())
    except ConfigError as error:
        raise WorkflowError(str(error))
    export_run_lock(own_lock)
    knows_records = snakemake_internals.records_are_files(workflow)
    unrecorded = unrecorded_files(study) if knows_records else []
    outdated = stale(study, specifications, quick=True)
    root = Path("results", study.name)
    to_remake = {*unrecorded, *outdated, *edited_outputs(root)}
    changed = changed_note(root)
    fits_ahead = run_forecast(study, outdated, specifications)
    renewed = reasons_of_run(outdated, unrecorded, fits_ahead)
    if own_lock.note:
        logger.warning(own_lock.note, extra={"event": "run_lock"})
    of_files = () if NO_SHARED_DISK else (changed, *renewed)  # storage has others
    for note in filter(None, (*of_files, *study.notes)):
        logger.warning(note)
    if not is_module:  # whose run has other results, too
        own_files = [*map(str, study_files)] or ["config.yaml"]
        named = {"study": study.name, "files": own_files}
        logger.info(None, extra={"event": "study", **named})
    keep_fits = os.environ.pop(KEEP_FITS, "")  # not for the jobs


def no_input(wildcards):
    """Return no input, and let Snakemake remake those of some files that a run reaches.

    Only indexes and fetched files have this input. All other files are based on them, so
    Snakemake calls it after it has built the graph and before it determines the jobs to
    run.
    """
    snakemake_internals.remake_if_reached(workflow, to_remake)
    return []


onstart:
    # Dry runs never come here.
    jobs = snakemake_internals.jobs_to_run(workflow)
    is_local = snakemake_internals.runs_locally(workflow)
    to_make = [file for job in jobs for file in job.output]
    makes_fits = any("/fits/" in file for file in to_make)
    if keep_fits and makes_fits and (question := remake_question(fits_ahead)):
        raise WorkflowError(question)
    if lacking := missing_packages(study, to_make):
        raise WorkflowError(*lacking)
    try:
        check_own_files(study, to_make)
    except DataError as error:
        raise WorkflowError(str(error))
    if own_lock.note and not is_local:
        logger.warning(ORPHANED_JOBS_NOTE)
    # For the plan and the progress of a run; it has no text to print.
    forecast = {
        "jobs": expected_seconds(study, (j[:3] for j in jobs), fits_ahead.copying),
        "local": is_local,
        "cores": workflow.cores if is_local else None,
    }
    logger.info(None, extra={"event": "forecast", **forecast})


PLANS = {name: plan_of(study, name) for name in study.benchmarks}
PLAN_VALUES = {name: asdict(plan) for name, plan in PLANS.items()}


# Inputs and parameters of a rule, from the specification of its file. Snakemake records no
# parameter that is a function of outputs, so it takes the path from the wildcards.
def inputs_of(file):
    def inputs(wildcards):
        return {**specifications.of(file.format(**wildcards)).inputs}

    return inputs


def specification_of(file):
    def specification(wildcards):
        return job_values(specifications.of(file.format(**wildcards)))

    return specification


fits_of = partial(fit_files, study)  # of a benchmark

# Files made from the fits, by stage.
AFTER_FITS = files_after_fits(
    study, *(names_of_kind(kind, list(PLANS.values())) for kind in KINDS)
)

EVERY_SCORES = expand(SCORES, benchmark=study.benchmarks, allow_missing=True)

IDENTIFIER = "[a-z0-9]+(?:-[a-z0-9]+)*"


def one_of(names):
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


wildcard_constraints:
    study=study.name,
    data=one_of([*study.data_names.values(), "backbones"]),
    resource=IDENTIFIER,
    domain=IDENTIFIER,
    view=one_of(study.view_names.values()),
    benchmark=one_of(study.benchmarks),
    setting=one_of(study.settings),
    role="source|target",
    task=rf"{IDENTIFIER}(?:\+{IDENTIFIER})*_{IDENTIFIER}",
    method=one_of(study.methods),
    block="[0-9]+-[0-9]+",


def every_file(wildcards):
    """Return the report, and the other results of a run that are missing.

    The report's inputs are made with it. If the report already exists, deleted files must
    be requested by name, including those that fits have read.
    """
    wanted = AFTER_FITS["report"] + AFTER_FITS["predictions"]
    if not Path(wanted[0]).exists():
        return wanted
    others = [file for files in AFTER_FITS.values() for file in files]
    for files in (feature_files, label_files, fit_inputs):
        others += files(wildcards)
    for name in study.benchmarks:
        for file in fits_of(name):
            others += [f"{file}.parquet", f"{file}.json"]
    lost = [file for file in dict.fromkeys(others) if not Path(file).exists()]
    return wanted + lost
