"""Write the predictions of methods for unlabelled rows."""

from cdspp.core.jobs import job, log_ready

with job(snakemake.log[0], snakemake.input):
    from cdspp.stages.score import write_predictions

    log_ready()
    write_predictions(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        outputs=snakemake.output,
        expected=snakemake.params.expected,
    )
