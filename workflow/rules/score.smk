# Scores: the only comparison of predictions with the labels of test samples, one table per
# benchmark, and the correctly predicted rows. Unlabelled rows of tables are not scored;
# their predictions are a separate file.

from functools import partial


def predictions(wildcards):
    return [f"{file}.parquet" for file in fits_of(wildcards.benchmark)]


def benchmark_labels(benchmark):
    dataset = study.benchmarks[benchmark].dataset
    return [label_file(study, dataset, d) for d in study.roles(benchmark)["target"]]


def target_labels(wildcards):
    return benchmark_labels(wildcards.benchmark)


def expected(wildcards):
    return specifications.expected_fits(wildcards.benchmark)


def records_of_fits(wildcards):
    return unshared(*(f"{file}.json" for file in fits_of(wildcards.benchmark)))


rule score:
    input:
        fits=predictions,
        records=records_of_fits,
        labels=target_labels,
    output:
        scores=SCORES,
        rows=SAMPLE_SCORES,
        records=[f"{SCORES}.json", f"{SAMPLE_SCORES}.json"],
    log:
        "logs/{study}/scores/{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        expected=expected,
        specification=specification_of(SCORES),
    script:
        "../scripts/score.py"


def main_predictions(benchmark):
    """Return the fits that predict unlabelled rows."""
    return [
        FIT.format(study=study.name, **key._asdict())
        for key in study.unlabelled_fits(benchmark)
    ]


for name in filter(partial(prediction_files, study), study.benchmarks):

    rule:
        name:
            f"predictions_{name.replace('-', '_')}"
        input:
            fits=[f"{file}.parquet" for file in main_predictions(name)],
            records=unshared(*(f"{file}.json" for file in main_predictions(name))),
            labels=benchmark_labels(name),
        output:
            prediction_files(study, name),
        log:
            f"logs/{study.name}/predictions/{name}.log",
        conda:
            "../../envs/environment.yaml"
        params:
            expected=specifications.expected_fits(name),
            code=code_digest("cdspp.stages.score"),
        script:
            "../scripts/predictions.py"
