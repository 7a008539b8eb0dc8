# Report: one self-contained page from the tables, figures and records of a study.

from cdspp.core.provenance import data_digest


localrules:
    report_page,


def feature_files(wildcards):
    return [
        FEATURES.format(dataset=dataset, domain=domain, view=view)
        for dataset, domain, view in study.feature_names()
    ]


def every_record(wildcards):
    return [f"{file}.json" for name in study.benchmarks for file in fits_of(name)]


def run_description(wildcards):
    told = {key: value for key, value in layers.config.items() if key != "mirror"}
    return vars(study.run_description(told, STUDY_FILES))


rule report_page:
    input:
        tables=expand(
            "results/{{study}}/tables/{name}.{form}",
            name=outline_names("table", list(PLANS.values())),
            form=["csv", "html"],
        ),
        figures=expand(
            "results/{{study}}/figures/{name}.svg",
            name=outline_names("figure", list(PLANS.values())),
        ),
        records=every_record,
        features=feature_files,
    output:
        report(
            "results/{study}/report/index.html",
            caption="../report/page.rst",
            category="Report",
        ),
    log:
        "logs/{study}/report.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        study=run_description,
        code=code_digest("cdspp.report.page.page"),
        templates=data_digest("report/page/templates"),
    script:
        "../scripts/report_page.py"
