# The paper: its printed numbers beside ours, its claims as computed checks, and what
# changes where its text and the released code differ.


rule printed:
    input:
        scores=all_scores,
        paper=paper_files("accuracy.csv", "benchmarks.yaml"),
    output:
        table("printed", "../report/printed.rst"),
        plain_tables("printed"),
    log:
        "logs/{study}/tables/printed.log",
    benchmark:
        "benchmarks/{study}/tables/printed.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        paper=paper_folder,
        code=code_digest("cdspp.report.tables.printed"),
    script:
        "../scripts/printed.py"


rule claims:
    input:
        scores=all_scores,
        records=main_records,
    output:
        table("claims", "../report/claims.rst"),
        plain_tables("claims"),
    log:
        "logs/{study}/tables/claims.log",
    benchmark:
        "benchmarks/{study}/tables/claims.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        code=code_digest("cdspp.report.tables.claims.claims"),
    script:
        "../scripts/claims.py"


rule deviations:
    input:
        scores=all_scores,
        deviations=paper_files("deviations.yaml"),
    output:
        table("deviations", "../report/deviations.rst"),
        plain_tables("deviations"),
    log:
        "logs/{study}/tables/deviations.log",
    benchmark:
        "benchmarks/{study}/tables/deviations.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        code=code_digest("cdspp.report.tables.deviations"),
    script:
        "../scripts/deviations.py"
