# Report: one self-contained page from the tables, figures and records of a study.


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
        code=code_digest("cdspp.report.page.page"),
        templates=template_digest(),
    script:
        "../scripts/report_page.py"
