# Tables of one benchmark: from scores to CSV, Markdown, LaTeX and HTML; from data and
# splits, what it holds and which samples of a task are on both sides.


rule benchmark_tables:
    input:
        scores="results/{study}/scores/{benchmark}.parquet",
    output:
        table("accuracy_{benchmark}", "../report/accuracy.rst"),
        table("class-accuracy_{benchmark}", "../report/class-accuracy.rst"),
        table("iterations_{benchmark}", "../report/iterations.rst"),
        table("source-help_{benchmark}", "../report/source-help.rst"),
        plain_tables(
            "accuracy_{benchmark}",
            "class-accuracy_{benchmark}",
            "iterations_{benchmark}",
            "source-help_{benchmark}",
        ),
    log:
        "logs/{study}/tables/{benchmark}.log",
    benchmark:
        "benchmarks/{study}/tables/{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=layout_of,
        code=code_digest("cdspp.report.tables.benchmark"),
    script:
        "../scripts/benchmark_tables.py"


rule overlap:
    input:
        main_splits,
    output:
        table("overlap_{benchmark}", "../report/overlap.rst"),
        plain_tables("overlap_{benchmark}"),
    log:
        "logs/{study}/tables/overlap_{benchmark}.log",
    benchmark:
        "benchmarks/{study}/tables/overlap_{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=overlap_layout,
        code=code_digest("cdspp.report.tables.overlap"),
    script:
        "../scripts/overlap.py"


rule curve_table:
    input:
        scores="results/{study}/scores/{benchmark}.parquet",
    output:
        table("curve-{curve}_{benchmark}", "../report/curve.rst"),
        plain_tables("curve-{curve}_{benchmark}"),
    log:
        "logs/{study}/tables/curve-{curve}_{benchmark}.log",
    benchmark:
        "benchmarks/{study}/tables/curve-{curve}_{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=layout_of,
        code=code_digest("cdspp.report.tables.curves"),
    script:
        "../scripts/curve_table.py"


rule contents:
    input:
        unpack(contents_input),
    output:
        table("contents_{benchmark}", "../report/contents.rst"),
        plain_tables("contents_{benchmark}"),
    log:
        "logs/{study}/tables/contents_{benchmark}.log",
    benchmark:
        "benchmarks/{study}/tables/contents_{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=overlap_layout,
        code=code_digest("cdspp.report.tables.contents"),
    script:
        "../scripts/contents.py"
