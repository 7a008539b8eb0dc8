# Figures: from scores, and for one task from predictions and subspace, to SVG and PNG.
# Labels of test samples colour the figures; they come after every fit.


rule source_help_figure:
    input:
        scores=EVERY_SCORES,
    output:
        report(
            "results/{study}/figures/source-help.svg",
            caption="../report/figure-source-help.rst",
            category="Figures",
            labels={"figure": "source-help"},
        ),
        "results/{study}/figures/source-help.png",
    log:
        "logs/{study}/figures/source-help.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        code=script_code("source_help_figure"),
    script:
        "../scripts/source_help_figure.py"


rule benchmark_figures:
    input:
        scores=SCORES,
    output:
        report(
            "results/{study}/figures/methods_{benchmark}.svg",
            caption="../report/figure-methods.rst",
            category="Figures",
            labels={"figure": "methods_{benchmark}"},
        ),
        "results/{study}/figures/methods_{benchmark}.png",
        report(
            "results/{study}/figures/iterations_{benchmark}.svg",
            caption="../report/figure-iterations.rst",
            category="Figures",
            labels={"figure": "iterations_{benchmark}"},
        ),
        "results/{study}/figures/iterations_{benchmark}.png",
    log:
        "logs/{study}/figures/{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("benchmark_figures"),
    script:
        "../scripts/benchmark_figures.py"


rule curve_figure:
    input:
        scores=SCORES,
    output:
        report(
            "results/{study}/figures/{curves}_{benchmark}.svg",
            caption="../report/figure-curves.rst",
            category="Figures",
            labels={"figure": "{curves}_{benchmark}"},
        ),
        "results/{study}/figures/{curves}_{benchmark}.png",
    log:
        "logs/{study}/figures/{curves}_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("curve_figure"),
    script:
        "../scripts/curve_figure.py"


def showcase_input(wildcards):
    benchmark, task = (
        wildcards.benchmark,
        study.benchmarks[wildcards.benchmark].showcase,
    )
    source, target = task.split("_")
    dataset = dataset_of(wildcards)
    names = {"study": study.name, "benchmark": benchmark, "task": task}
    fit = f"{FIT}.parquet"
    return {
        "fits": expand(
            fit,
            **names,
            setting=MAIN,
            method=REFERENCE,
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
        report(
            "results/{study}/figures/confusion_{benchmark}.svg",
            caption="../report/figure-confusion.rst",
            category="Figures",
            labels={"figure": "confusion_{benchmark}"},
        ),
        "results/{study}/figures/confusion_{benchmark}.png",
        report(
            "results/{study}/figures/subspace_{benchmark}.svg",
            caption="../report/figure-subspace.rst",
            category="Figures",
            labels={"figure": "subspace_{benchmark}"},
        ),
        "results/{study}/figures/subspace_{benchmark}.png",
    log:
        "logs/{study}/figures/showcase_{benchmark}.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plan=plan,
        code=script_code("showcase_figures"),
    script:
        "../scripts/showcase_figures.py"
