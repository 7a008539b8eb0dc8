"""Score a benchmark; the records name labels, not the fits, which may be many."""

from pathlib import Path

from cdspp.core.jobs import job, log_ready

with job(snakemake.log[0], snakemake.input) as digests:
    from cdspp.core.records import Specification, write_record
    from cdspp.stages.score import write_scores

    log_ready()
    write_scores(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        output=snakemake.output.scores,
        rows=snakemake.output.rows,
        expected=snakemake.params.expected,
    )
    labels = {Path(path).stem: path for path in snakemake.input.labels}
    made_of = Specification(**snakemake.params.specification)._replace(inputs=labels)
    for path in (snakemake.output.scores, snakemake.output.rows):
        write_record(path, made_of, digests)
