# Tables of the whole study: averages, what the source was worth, and computation time.


rule overview:
    input:
        scores=all_scores,
    output:
        table("overview", "../report/overview.rst"),
        plain_tables("overview"),
    log:
        "logs/{study}/tables/overview.log",
    benchmark:
        "benchmarks/{study}/tables/overview.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        code=code_digest("cdspp.report.tables.benchmark"),
    script:
        "../scripts/overview.py"


rule gains:
    input:
        scores=all_scores,
    output:
        table("gains", "../report/gains.rst"),
        plain_tables("gains"),
    log:
        "logs/{study}/tables/gains.log",
    benchmark:
        "benchmarks/{study}/tables/gains.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        code=code_digest("cdspp.report.tables.gains"),
    script:
        "../scripts/gains.py"


rule times:
    input:
        records=main_records,
        paper=paper_files("computation_time.csv", "benchmarks.yaml"),
    output:
        table("times", "../report/times.rst"),
        plain_tables("times"),
    log:
        "logs/{study}/tables/times.log",
    benchmark:
        "benchmarks/{study}/tables/times.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        paper=paper_folder,
        code=code_digest("cdspp.report.tables.times"),
    script:
        "../scripts/times.py"
