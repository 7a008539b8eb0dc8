"""Score the predictions of a benchmark."""

from cdspp.core.files import write_record
from cdspp.core.jobs import job
from cdspp.core.run_lock import input_digest
from cdspp.stages.score import write_scores

with job(snakemake.log[0], snakemake.input):
    write_scores(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        output=snakemake.output.scores,
        rows=snakemake.output.rows,
        expected=snakemake.params.expected,
    )
    # Without those of fits, which may be many: a run compares fits by recipe and time.
    labels = {path: input_digest(path) for path in snakemake.input.labels}
    for path in (snakemake.output.scores, snakemake.output.rows):
        write_record(path, snakemake.params.made_of, labels)
