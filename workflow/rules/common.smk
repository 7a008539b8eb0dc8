# The validated study, and the constraints that it puts on wildcards. The functions of
# paths.smk, inputs.smk and params.smk, named after their value, ask it for the rest.

import os
from pathlib import Path

from cdspp.report.tables.claims.claims import claims_tables
from cdspp.study.config import load_study
from cdspp.report.tables.contents import contents_tables
from cdspp.report.tables.curves import curve_tables
from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import record_path
from cdspp.datasets.catalogue import checks_of
from cdspp.report.tables.deviations import deviation_tables
from cdspp.core.errors import ConfigError
from cdspp.features import extractor_module, needs_codebook, pretrained_network
from cdspp.report.figures.curves import curve_figures
from cdspp.report.figures.benchmark import benchmark_figures, overall_figures
from cdspp.report.tables.gains import gains_tables
from cdspp.methods import method_module
from cdspp.study.cost import job_cost
from cdspp.report.tables.printed import printed_tables
from cdspp.core.provenance import code_digest
from cdspp.report.page.blocks import template_digest
from cdspp.core.names import trials_of_block
from cdspp.core.names import MAIN, REFERENCE
from cdspp.report.tables.benchmark import benchmark_tables, overall_tables
from cdspp.report.tables.times import times_tables

# Relative where possible: the path is a parameter, and moving the folder no change.
CATALOGUE = os.path.relpath(Path(workflow.basedir, "resources/datasets.yaml"))
PAPER = os.path.relpath(Path(workflow.basedir, "resources/paper"))
STUDY_FILES = [os.path.relpath(file) for file in workflow.config_settings.configfiles]

try:
    study = load_study(
        config,
        schema=Path(workflow.basedir, "workflow/schemas/config.schema.yaml"),
        catalogue=CATALOGUE,
        paper=PAPER,
    )
except ConfigError as error:
    raise WorkflowError(str(error))

RESULTS = f"results/{study.name}"
IDENTIFIER = "[a-z0-9]+(?:-[a-z0-9]+)*"


def one_of(names):
    return "|".join(sorted(names)) or "(?!)"


wildcard_constraints:
    study=study.name,
    dataset=one_of([*study.datasets, "backbones"]),
    resource=IDENTIFIER,
    domain=IDENTIFIER,
    view=one_of(study.views),
    benchmark=one_of(study.benchmarks),
    setting=one_of(study.settings),
    role="source|target",
    task=f"{IDENTIFIER}_{IDENTIFIER}",
    method=one_of(study.methods),
    block="[0-9]+-[0-9]+",
    curve=one_of(sweep.identifier for sweep in study.sweeps),
    curves="labels|sensitivity",
