# Parameters of rules: every value that can change a result passes through here.


def numeric_threads(wildcards):
    return study.numeric_threads


def showcase(wildcards):
    return study.benchmarks[wildcards.benchmark].showcase


def all_layouts(wildcards):
    return [study.layout(benchmark) for benchmark in study.benchmarks]


def layout_of(wildcards):
    return study.layout(wildcards.benchmark)


def study_facts(wildcards):
    return {"config": dict(config), "logs": study.logs(), **study.facts()}


def dataset_params(wildcards):
    name = wildcards.dataset
    recipe = dataset_recipe(name, study.datasets[name].folder)
    code = code_digest("cdspp.datasets.stages", recipe["module"])
    return {**recipe, "code": code}


def view_of(wildcards):
    return study.views[wildcards.view]


def extractor_digest(wildcards):
    name = view_of(wildcards).extractor
    return code_digest("cdspp.features.stages", extractor_module(name))


def extractor_name(wildcards):
    return view_of(wildcards).extractor


def extractor_options(wildcards):
    return dict(view_of(wildcards).options)


def dataset_of(wildcards):
    return study.benchmarks[wildcards.benchmark].dataset


def labels_per_class(wildcards):
    return study.label_count(wildcards.benchmark, wildcards.setting, wildcards.role)


def fit_params(wildcards):
    return {
        "options": study.method_options(wildcards.method, wildcards.setting),
        "source_change": study.settings[wildcards.setting].source,
        "seed": study.seed,
        "numeric_threads": study.numeric_threads,
    }


def method_digest(wildcards):
    return code_digest("cdspp.experiment", method_module(wildcards.method))


def showcase_options(wildcards):
    return study.method_options(REFERENCE, MAIN)


def showcase_digest(wildcards):
    return code_digest("cdspp.subspace", method_module(REFERENCE))
