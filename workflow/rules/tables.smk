# Tables and figures, as CSV, Markdown and LaTeX, or SVG and PDF: one rule per job of
# `cdspp.report.registry`, which lists the items, their functions and inputs. Tables of
# seconds differ from run to run, and have a folder of their own. Labels of test samples
# colour some figures, which come after every fit.

from dataclasses import asdict
from functools import cache, partial

from cdspp.core.outputs import atomic
from cdspp.core.provenance import ids_digest
from cdspp.methods.descriptions import looks
from cdspp.report.registry import FIGURE, item_jobs
from cdspp.study.files import FIGURE_FORMS, TABLE_FORMS, item_inputs

CAPTIONS = Path(snakemake_internals.FOLDER, "captions", study.name).absolute()
resource_digest = cache(data_digest)
STYLES, TEXTS = data_digest("report/styles"), data_digest("report/captions")
STYLES += ids_digest(map(str, looks().items()))
IN_STYLE = "cdspp.report.figures.style:in_style"  # not imported for tables


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


def item_files(job, name):
    first, *others = FIGURE_FORMS if job.kind == FIGURE else TABLE_FORMS
    stem = f"results/{study.name}/{job.kind}s/{name}"
    shown = report(
        f"{stem}.{first}",
        caption=caption_file(job.kind, name, job.captions[name]),
        category=f"{job.kind.capitalize()}s",
        labels={"figure" if job.kind == FIGURE else "table": name},
    )
    return [shown, *(f"{stem}.{form}" for form in others)]


def item_input(job, wildcards):
    benchmarks = [plan.benchmark for plan in job.plans]
    files = item_inputs(study, job.maker.inputs, benchmarks)
    if NO_SHARED_DISK:  # also the records of fits
        fits = files.get("fits", [])
        files["beside"] = [file.replace(".parquet", ".json") for file in fits]
    return files


def plan_values(job):
    if job.of_data:
        return [asdict(plan.of_data()) for plan in job.plans]
    return [PLAN_VALUES[plan.benchmark] for plan in job.plans]


for job in item_jobs(list(PLANS.values())):

    rule:
        name:
            f"{job.kind}_{job.name}".replace("-", "_")
        input:
            unpack(partial(item_input, job)),
        output:
            *[item_files(job, name) for name in job.captions],
        log:
            f"logs/{study.name}/{job.kind}s/{job.name}.log",
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            maker=job.maker.function,
            plans=plan_values(job),
            resources={
                name: resource_digest(RESOURCES / name) for name in job.maker.resources
            },
            code=code_digest(job.maker.function.partition(":")[0]),
            in_style=IN_STYLE if job.kind == FIGURE else "contextlib:nullcontext",
            style=study.figure_style if job.kind == FIGURE else "",
            styles=STYLES if job.kind == FIGURE else "",
            texts="" if job.kind == FIGURE else TEXTS,
        message:
            f"{job.kind.capitalize()}s {', '.join(job.captions)}: {study.name}"
        script:
            "../scripts/show.py"
