import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.14.8")

if sys.getfilesystemencoding() != "utf-8":
    sys.exit(
        f"Names of files are {sys.getfilesystemencoding()} here, by LC_ALL and "
        "PYTHONUTF8, but UTF-8 in a study. Set PYTHONUTF8=1, and run again."
    )


TOP = Path(str(workflow.current_basedir))  # also where workflow/Snakefile is run

try:
    import cdspp.study.config
except ImportError as error:
    sys.exit(
        f"{error}. Install the library first: make setup, or pip install -e '.[workflow]'"
    )


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/splits.smk"
include: "workflow/rules/fit.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/report.smk"


for plugin in plugin_classes():
    if plugin.rules:  # for what its items without a maker name

        include: plugin.rules


localrules:
    all,


rule all:
    input:
        every_file,


onsuccess:
    # A fit that failed stops nothing, so that the end has to tell of it.
    from cdspp.analysis.fit_records import failures_of_scores, mixtures_note

    if mixed := mixtures_note(every_record(None)):
        logger.warning(mixed)
    if failed := failures_of_scores(AFTER_FITS["scores"]):
        logger.warning(
            f"FAILED: {failed} All others are in the report, which says why these "
            "failed, as cdspp status does."
        )
