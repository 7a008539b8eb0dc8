# Tables, to CSV, Markdown, LaTeX and HTML: of one benchmark from its scores, from data
# and splits; then of the whole study, and beside the paper.


rule benchmark_tables:
    input:
        scores=SCORES,
    output:
        report(
            "results/{study}/tables/accuracy_{benchmark}.csv",
            caption="../report/accuracy.rst",
            category="Tables",
            labels={"table": "accuracy_{benchmark}"},
        ),
        multiext("results/{study}/tables/accuracy_{benchmark}", ".md", ".tex", ".html"),
        report(
            "results/{study}/tables/class-accuracy_{benchmark}.csv",
            caption="../report/class-accuracy.rst",
            category="Tables",
            labels={"table": "class-accuracy_{benchmark}"},
        ),
        multiext(
            "results/{study}/tables/class-accuracy_{benchmark}", ".md", ".tex", ".html"
        ),
        report(
            "results/{study}/tables/iterations_{benchmark}.csv",
            caption="../report/iterations.rst",
            category="Tables",
            labels={"table": "iterations_{benchmark}"},
        ),
        multiext(
            "results/{study}/tables/iterations_{benchmark}", ".md", ".tex", ".html"
        ),
        report(
            "results/{study}/tables/source-help_{benchmark}.csv",
            caption="../report/source-help.rst",
            category="Tables",
            labels={"table": "source-help_{benchmark}"},
        ),
        multiext(
            "results/{study}/tables/source-help_{benchmark}", ".md", ".tex", ".html"
        ),
    log:
        "logs/{study}/tables/{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("benchmark_tables"),
    script:
        "../scripts/benchmark_tables.py"


rule curve_table:
    input:
        scores=SCORES,
    output:
        report(
            "results/{study}/tables/curve-{curve}_{benchmark}.csv",
            caption="../report/curve.rst",
            category="Tables",
            labels={"table": "curve-{curve}_{benchmark}"},
        ),
        multiext(
            "results/{study}/tables/curve-{curve}_{benchmark}", ".md", ".tex", ".html"
        ),
    log:
        "logs/{study}/tables/curve-{curve}_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("curve_table"),
    script:
        "../scripts/curve_table.py"


def data_plan(wildcards):
    return PLANS[wildcards.benchmark].of_data().as_dict()


rule overlap:
    input:
        main_splits,
    output:
        report(
            "results/{study}/tables/overlap_{benchmark}.csv",
            caption="../report/overlap.rst",
            category="Tables",
            labels={"table": "overlap_{benchmark}"},
        ),
        multiext("results/{study}/tables/overlap_{benchmark}", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/overlap_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=data_plan,
        code=script_code("overlap"),
    script:
        "../scripts/overlap.py"


def contents_input(wildcards):
    benchmark = study.benchmarks[wildcards.benchmark]
    roles = study.roles(wildcards.benchmark)
    views = {"source": benchmark.source_view, "target": benchmark.target_view}
    names = [(views[role], domain) for role in roles for domain in roles[role]]
    labels = [
        LABELS.format(dataset=benchmark.dataset, domain=domain) for _, domain in names
    ]
    features = [
        FEATURES.format(dataset=benchmark.dataset, domain=domain, view=view)
        for view, domain in names
    ]
    return {
        "labels": sorted(set(labels)),
        "features": sorted(set(features)),
        "splits": main_splits(wildcards),
    }


rule contents:
    input:
        unpack(contents_input),
    output:
        report(
            "results/{study}/tables/contents_{benchmark}.csv",
            caption="../report/contents.rst",
            category="Tables",
            labels={"table": "contents_{benchmark}"},
        ),
        multiext("results/{study}/tables/contents_{benchmark}", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/contents_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=data_plan,
        code=script_code("contents"),
    script:
        "../scripts/contents.py"


rule overview:
    input:
        scores=EVERY_SCORES,
    output:
        report(
            "results/{study}/tables/overview.csv",
            caption="../report/overview.rst",
            category="Tables",
            labels={"table": "overview"},
        ),
        multiext("results/{study}/tables/overview", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/overview.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("overview"),
    script:
        "../scripts/overview.py"


rule gains:
    input:
        scores=EVERY_SCORES,
    output:
        report(
            "results/{study}/tables/gains.csv",
            caption="../report/gains.rst",
            category="Tables",
            labels={"table": "gains"},
        ),
        multiext("results/{study}/tables/gains", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/gains.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("gains"),
    script:
        "../scripts/gains.py"


rule times:
    input:
        records=main_records,
        paper=[f"{PAPER}/computation_time.csv", f"{PAPER}/benchmarks.yaml"],
    output:
        report(
            "results/{study}/tables/times.csv",
            caption="../report/times.rst",
            category="Tables",
            labels={"table": "times"},
        ),
        multiext("results/{study}/tables/times", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/times.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("times"),
    script:
        "../scripts/times.py"


rule printed:
    input:
        scores=EVERY_SCORES,
        paper=[f"{PAPER}/accuracy.csv", f"{PAPER}/benchmarks.yaml"],
    output:
        report(
            "results/{study}/tables/printed.csv",
            caption="../report/printed.rst",
            category="Tables",
            labels={"table": "printed"},
        ),
        multiext("results/{study}/tables/printed", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/printed.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("printed"),
    script:
        "../scripts/printed.py"


rule claims:
    input:
        scores=EVERY_SCORES,
        records=main_records,
    output:
        report(
            "results/{study}/tables/claims.csv",
            caption="../report/claims.rst",
            category="Tables",
            labels={"table": "claims"},
        ),
        multiext("results/{study}/tables/claims", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/claims.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("claims"),
    script:
        "../scripts/claims.py"


rule deviations:
    input:
        scores=EVERY_SCORES,
        deviations=f"{PAPER}/deviations.yaml",
    output:
        report(
            "results/{study}/tables/deviations.csv",
            caption="../report/deviations.rst",
            category="Tables",
            labels={"table": "deviations"},
        ),
        multiext("results/{study}/tables/deviations", ".md", ".tex", ".html"),
    log:
        "logs/{study}/tables/deviations.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("deviations"),
    script:
        "../scripts/deviations.py"
