# Tables and figures, as CSV, Markdown and LaTeX, or SVG and PDF: one job for the items of
# each benchmark, and one for those over all; `cdspp.report.registry` lists the items, their
# functions and inputs. Files are updated, not removed: a job makes the items anew of which
# the specification or an input changed. Tables of seconds differ from run to run, and have
# a folder of their own. Labels of test samples colour some figures, which come after every
# fit.

from functools import partial

from cdspp.core.outputs import atomic
from cdspp.report.making import group_values, names_to_make
from cdspp.report.registry import FIGURE, item_jobs
from cdspp.study.files import FIGURE_FORMS, TABLE_FORMS, item_inputs

CAPTIONS = Path(snakemake_internals.FOLDER, "captions", study.name).absolute()


# For rules in a repository, Snakemake would look for a caption in that repository.
HAS_CAPTIONS = snakemake_internals.has_local_rules(workflow)


def caption_file(kind, name, text):
    # Snakemake reads captions only from files, as reStructuredText.
    if not HAS_CAPTIONS:
        return None
    file = CAPTIONS / kind / f"{name}.rst"
    escaped = re.sub(r"([\\*`|_])", r"\\\1", text)
    if is_main_process and not (file.exists() and file.read_text() == escaped):
        with atomic(file) as temporary:
            temporary.write_text(escaped)
    return file


def item_files(group, name):
    first, *others = FIGURE_FORMS if group.kind == FIGURE else TABLE_FORMS
    stem = f"results/{study.name}/{group.kind}s/{name}"
    shown = report(
        f"{stem}.{first}",
        caption=caption_file(group.kind, name, group.captions[name]),
        category=f"{group.kind.capitalize()}s",
        labels={"figure" if group.kind == FIGURE else "table": name},
    )
    return [shown, *(f"{stem}.{form}" for form in others)]


def job_files(job):
    return [
        file
        for group in job.groups
        for name in group.captions
        for file in item_files(group, name)
    ]


def item_input(job, wildcards):
    benchmarks = [plan.benchmark for plan in job.plans]
    names = dict.fromkeys(name for group in job.groups for name in group.maker.inputs)
    files = item_inputs(study, [*names], benchmarks)
    if NO_SHARED_DISK:  # also the records of fits
        fits = files.get("fits", [])
        files["beside"] = [file.replace(".parquet", ".json") for file in fits]
    return files


def items_message(job, groups, record):
    names = "their items"  # jobs need no message
    if is_main_process:
        names = names_to_make(record, groups, job.plans)
    return f"Tables and figures of {job.name or 'all benchmarks'}: {names}"


for job in item_jobs(list(PLANS.values())):
    place = f"items/{job.name}" if job.name else "items"
    record = f"results/{study.name}/{place}.json"
    made_of = [
        group_values(group, RESOURCES, study.figure_style) for group in job.groups
    ]

    rule:
        name:
            f"tables_and_figures_{job.name}".replace("-", "_").rstrip("_")
        input:
            unpack(partial(item_input, job)),
        output:
            shown=updated(job_files(job)),
            record=updated(record),
        log:
            f"logs/{study.name}/{place}.log",
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            groups=made_of,
            plans=[PLAN_VALUES[plan.benchmark] for plan in job.plans],
        message:
            items_message(job, made_of, record)
        script:
            "../scripts/show.py"
