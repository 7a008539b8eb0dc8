# Report: one self-contained page from the tables, figures and records of a study.


def report_tables(wildcards):
    kinds = ["accuracy", "class-accuracy", "iterations", "source-help"]
    names = [f"{kind}_{name}" for name in study.benchmarks for kind in kinds]
    return [f"{RESULTS}/tables/{name}.csv" for name in ["overview", *names]]


def report_figures(wildcards):
    kinds = ["methods", "iterations"]
    kinds += ["confusion", "subspace"] if study.has_showcase() else []
    names = [f"{kind}_{name}" for name in study.benchmarks for kind in kinds]
    return [f"{RESULTS}/figures/{name}.svg" for name in ["source-help", *names]]


def report_records(wildcards):
    files = [file for name in study.benchmarks for file in cell_files(name)]
    return [str(Path(file).with_suffix(".json")) for file in files]


rule report_page:
    input:
        scores=all_scores,
        tables=report_tables,
        figures=report_figures,
        records=report_records,
        features=feature_files,
    output:
        report(
            "results/{study}/report/index.html",
            caption="../report/page.rst",
            category="Report",
        ),
    log:
        "logs/{study}/report.log",
    benchmark:
        "benchmarks/{study}/report.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        study=study_facts,
        code=code_digest("cdspp.report"),
    script:
        "../scripts/report_page.py"
