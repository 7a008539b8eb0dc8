# Figures: from scores, and for one task from predictions and subspace, to SVG and PNG.
# Labels of test samples colour the figures; they come after every fit.


rule source_help_figure:
    input:
        scores=all_scores,
    output:
        figure("source-help", "../report/figure-source-help.rst"),
        plain_figures("source-help"),
    log:
        "logs/{study}/figures/source-help.log",
    benchmark:
        "benchmarks/{study}/figures/source-help.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layouts=all_layouts,
        code=code_digest("cdspp.report.figures.benchmark"),
    script:
        "../scripts/source_help_figure.py"


rule benchmark_figures:
    input:
        scores="results/{study}/scores/{benchmark}.parquet",
    output:
        figure("methods_{benchmark}", "../report/figure-methods.rst"),
        figure("iterations_{benchmark}", "../report/figure-iterations.rst"),
        plain_figures("methods_{benchmark}", "iterations_{benchmark}"),
    log:
        "logs/{study}/figures/{benchmark}.log",
    benchmark:
        "benchmarks/{study}/figures/{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=layout_of,
        code=code_digest("cdspp.report.figures.benchmark"),
    script:
        "../scripts/benchmark_figures.py"


rule showcase_figures:
    input:
        unpack(showcase_labels),
        fits=showcase_fits,
        subspace=showcase_subspace,
    output:
        figure("confusion_{benchmark}", "../report/figure-confusion.rst"),
        figure("subspace_{benchmark}", "../report/figure-subspace.rst"),
        plain_figures("confusion_{benchmark}", "subspace_{benchmark}"),
    log:
        "logs/{study}/figures/showcase_{benchmark}.log",
    benchmark:
        "benchmarks/{study}/figures/showcase_{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=layout_of,
        code=code_digest("cdspp.report.figures.benchmark"),
    script:
        "../scripts/showcase_figures.py"


rule curve_figure:
    input:
        scores="results/{study}/scores/{benchmark}.parquet",
    output:
        figure("{curves}_{benchmark}", "../report/figure-curves.rst"),
        plain_figures("{curves}_{benchmark}"),
    log:
        "logs/{study}/figures/{curves}_{benchmark}.log",
    benchmark:
        "benchmarks/{study}/figures/{curves}_{benchmark}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=layout_of,
        code=code_digest("cdspp.report.figures.curves"),
    script:
        "../scripts/curve_figure.py"
