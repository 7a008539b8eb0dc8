# Figures: from scores, and for one task from predictions and subspace, to SVG, PNG and PDF.
# Labels of test samples colour the figures; they come after every fit.


from cdspp.report.outline import has_pairs


localrules:
    source_help_figure,
    bridges_figure,
    selection_figure,
    benchmark_figures,
    showcase_figures,


def figure_files(stem, caption):
    labels = {"figure": Path(stem).name}
    shown = report(
        f"{stem}.svg",
        caption=f"../report/{caption}",
        category="Figures",
        labels=labels,
    )
    return [shown, f"{stem}.png", f"{stem}.pdf"]


rule source_help_figure:
    input:
        scores=EVERY_SCORES,
        comparisons=EVERY_COMPARISONS,
    output:
        figure_files("results/{study}/figures/source-help", "figure-source-help.rst"),
        figure_files(
            "results/{study}/figures/source-states", "figure-source-states.rst"
        ),
    log:
        "logs/{study}/figures/source-help.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("source_help_figure"),
    script:
        "../scripts/source_help_figure.py"


rule selection_figure:
    input:
        "results/{study}/tables/selection.csv",
    output:
        figure_files("results/{study}/figures/selection", "figure-selection.rst"),
    log:
        "logs/{study}/figures/selection.log",
    conda:
        "../../envs/environment.yaml"
    params:
        code=script_code("selection_figure"),
    script:
        "../scripts/selection_figure.py"


rule benchmark_figures:
    input:
        scores=SCORES,
    output:
        figure_files(
            "results/{study}/figures/methods_{benchmark}", "figure-methods.rst"
        ),
        figure_files(
            "results/{study}/figures/iterations_{benchmark}", "figure-iterations.rst"
        ),
    log:
        "logs/{study}/figures/{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("benchmark_figures"),
    script:
        "../scripts/benchmark_figures.py"


# The benchmarks with a curve over paired rows share a figure.
PAIRED = [name for name, plan in PLANS.items() if has_pairs(plan)]


rule bridges_figure:
    input:
        expand(SCORES, benchmark=PAIRED, allow_missing=True),
    output:
        figure_files("results/{study}/figures/bridges", "figure-bridges.rst"),
    log:
        "logs/{study}/figures/bridges.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=[PLANS[name].as_dict() for name in PAIRED],
        code=script_code("bridges_figure"),
    script:
        "../scripts/bridges_figure.py"


def curve_figures(benchmark):
    parameters = {curve.parameter for curve in PLANS[benchmark].curves}
    kinds = ["labels"] * ("labels" in parameters)
    kinds += ["sensitivity"] * bool(parameters - {"labels", "paired_rows"})
    stems = [f"results/{study.name}/figures/{kind}_{benchmark}" for kind in kinds]
    return [figure_files(stem, "figure-curves.rst") for stem in stems]


for name in filter(curve_figures, study.benchmarks):

    rule:
        name:
            f"curve_figures_{name.replace('-', '_')}"
        input:
            scores=SCORES.format(study=study.name, benchmark=name),
        output:
            *curve_figures(name),
        log:
            f"logs/{study.name}/figures/curves_{name}.log",
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            plan=PLANS[name].as_dict(),
            code=script_code("curve_figures"),
        script:
            "../scripts/curve_figures.py"


def showcase_input(wildcards):
    benchmark, task = (
        wildcards.benchmark,
        study.benchmarks[wildcards.benchmark].showcase,
    )
    (source,), target = task_domains(task)
    dataset = dataset_of(wildcards)
    names = {"study": study.name, "benchmark": benchmark, "task": task}
    fit = f"{FIT}.parquet"
    return {
        "fits": expand(
            fit,
            **names,
            setting=MAIN,
            method=study.shown_method(),
            block=study.showcase_blocks(),
        ),
        "subspace": SUBSPACE.format(**names),
        "source_labels": LABELS.format(dataset=dataset, domain=source),
        "target_labels": LABELS.format(dataset=dataset, domain=target),
    }


rule showcase_figures:
    input:
        unpack(showcase_input),
    output:
        figure_files(
            "results/{study}/figures/confusion_{benchmark}", "figure-confusion.rst"
        ),
        figure_files(
            "results/{study}/figures/subspace_{benchmark}", "figure-subspace.rst"
        ),
    log:
        "logs/{study}/figures/showcase_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("showcase_figures"),
    script:
        "../scripts/showcase_figures.py"
