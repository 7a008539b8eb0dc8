"""Draw default and selected hyper-parameters, and the best in hindsight."""

import pandas as pd

from cdspp.core.jobs import job
from cdspp.report.figures.source_help import draw_selections

with job(snakemake.log[0], snakemake.input):
    draw_selections(pd.read_csv(snakemake.input[0]), list(snakemake.output))
