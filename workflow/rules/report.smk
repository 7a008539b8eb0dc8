# Report: one self-contained page from the tables, figures and records of a study. It states
# the digests of all other files behind it, including labels.

from cdspp.core.code_digests import data_digest
from cdspp.study.stale import DIGESTS

PLUGIN_MODULES = [plugin.__module__ for plugin in plugin_classes()]


def feature_files(wildcards):
    return [
        feature_file(study, dataset, domain, view)
        for dataset, domain, view in study.feature_names()
    ]


def every_record(wildcards):
    return [f"{file}.json" for name in study.benchmarks for file in fits_of(name)]


def label_files(wildcards):
    domains = {(dataset, domain) for dataset, domain, _ in study.feature_names()}
    return sorted(label_file(study, *names) for names in domains)


def fit_inputs(wildcards):
    keys = (fit_key(record) for record in every_record(wildcards))
    files = (file for key in keys for file in files_of_fit(study, key).values())
    return list(dict.fromkeys(files))


def run_description(wildcards):
    return vars(study.run_description(COMMAND))


rule report_page:
    input:
        scores=AFTER_FITS["scores"],
        sample_scores=AFTER_FITS["scores per sample"],
        predictions=AFTER_FITS["predictions"],
        tables=AFTER_FITS["tables"],
        figures=AFTER_FITS["figures"],
        timings=AFTER_FITS["timings"],
        records=every_record,
        features=feature_files,
        labels=label_files,
        fit_inputs=fit_inputs,
        subspaces=AFTER_FITS["subspaces"],
    output:
        report(
            "results/{study}/report/index.html",
            caption="../report/page.rst",
            category="Report",
        ),
        f"results/{{study}}/report/{DIGESTS}",
    log:
        "logs/{study}/report.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        plans=list(PLAN_VALUES.values()),
        study=run_description,
        code=code_digest("cdspp.report.page.page", *PLUGIN_MODULES),
        templates=data_digest("report/page/templates"),
    script:
        "../scripts/report_page.py"
