# Tables, to CSV, Markdown, LaTeX and HTML: of one benchmark from its scores, from data
# and splits; then of the whole study. None reads seconds, so that equal runs give equal
# bytes; those that do are in timings.smk, those of the paper in paper.smk.


localrules:
    benchmark_tables,
    overlap,
    contents,
    overview,
    source_help,
    selection,
    several_sources,


def table_files(stem, caption, category="Tables"):
    labels = {"table": Path(stem).name}
    shown = report(
        f"{stem}.csv",
        caption=f"../report/{caption}",
        category=category,
        labels=labels,
    )
    return [shown, *multiext(stem, ".md", ".tex", ".html")]


rule benchmark_tables:
    input:
        scores=SCORES,
        rows=ROW_SCORES,
    output:
        table_files("results/{study}/tables/accuracy_{benchmark}", "accuracy.rst"),
        table_files(
            "results/{study}/tables/class-accuracy_{benchmark}", "class-accuracy.rst"
        ),
        table_files("results/{study}/tables/iterations_{benchmark}", "iterations.rst"),
        table_files(COMPARISONS, "source-help.rst"),
    log:
        "logs/{study}/tables/{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("benchmark_tables"),
    script:
        "../scripts/benchmark_tables.py"


rule several_sources:
    input:
        scores=SCORES,
        rows=ROW_SCORES,
    output:
        table_files(
            "results/{study}/tables/several-sources_{benchmark}", "several-sources.rst"
        ),
    log:
        "logs/{study}/tables/several-sources_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("several_sources"),
    script:
        "../scripts/several_sources.py"


def curve_tables(benchmark):
    stems = [curve.identifier for curve in PLANS[benchmark].curves]
    stems = [f"results/{study.name}/tables/curve-{stem}_{benchmark}" for stem in stems]
    return [table_files(stem, "curve.rst") for stem in stems]


# One job a benchmark: it reads the scores once for all curves.
for name in filter(curve_tables, study.benchmarks):

    rule:
        name:
            f"curve_tables_{name.replace('-', '_')}"
        input:
            scores=SCORES.format(study=study.name, benchmark=name),
        output:
            *curve_tables(name),
        log:
            f"logs/{study.name}/tables/curves_{name}.log",
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            plan=PLANS[name].as_dict(),
            code=script_code("curve_tables"),
        script:
            "../scripts/curve_tables.py"


def data_plan(wildcards):
    return PLANS[wildcards.benchmark].of_data().as_dict()


rule overlap:
    input:
        main_splits,
    output:
        table_files("results/{study}/tables/overlap_{benchmark}", "overlap.rst"),
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
    views = benchmark.views
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
        table_files("results/{study}/tables/contents_{benchmark}", "contents.rst"),
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
        table_files("results/{study}/tables/overview", "overview.rst"),
    log:
        "logs/{study}/tables/overview.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("overview"),
    script:
        "../scripts/overview.py"


rule source_help:
    input:
        comparisons=EVERY_COMPARISONS,
    output:
        table_files("results/{study}/tables/source-help", "source-matrix.rst"),
    log:
        "logs/{study}/tables/source-help.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("source_help"),
    script:
        "../scripts/source_help.py"


def selecting_records(wildcards):
    return [
        f"{file}.json"
        for benchmark in study.benchmarks
        for file in fits_of(benchmark)
        if study.settings[fit_key(file).setting].selects
    ]


rule selection:
    input:
        scores=EVERY_SCORES,
        comparisons=EVERY_COMPARISONS,
        records=selecting_records,
    output:
        table_files("results/{study}/tables/selection", "selection.rst"),
    log:
        "logs/{study}/tables/selection.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("selection"),
    script:
        "../scripts/selection.py"
