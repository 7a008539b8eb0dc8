# Parameters of rules: every value that can change a result passes through here.


def numeric_threads(wildcards):
    return study.numeric_threads


def showcase(wildcards):
    return study.benchmarks[wildcards.benchmark].showcase


def all_layouts(wildcards):
    return [study.layout(benchmark) for benchmark in study.benchmarks]


def layout_of(wildcards):
    return study.layout(wildcards.benchmark)


def overlap_layout(wildcards):
    names = ("benchmark", "title", "tasks", "overlap", "views")
    return {name: layout_of(wildcards)[name] for name in names}


def study_facts(wildcards):
    told = {key: value for key, value in config.items() if key != "mirror"}
    return {"config": told, "logs": study.logs(), **study.facts(STUDY_FILES)}


def dataset_params(wildcards):
    facts = study.datasets[wildcards.dataset]
    recipe = dataset_recipe(facts.identifier, facts.folder, facts.entry)
    code = code_digest("cdspp.stages.data", recipe["module"])
    return {**recipe, "code": code}


def view_of(wildcards):
    return study.views[wildcards.view]


def extractor_digest(wildcards):
    name = view_of(wildcards).extractor
    return code_digest("cdspp.stages.features", extractor_module(name))


def extractor_name(wildcards):
    return view_of(wildcards).extractor


def codebook_options(wildcards):
    view = view_of(wildcards)
    return view.domain_options(view.options.get("codebook_domain"))


def extractor_options(wildcards):
    return view_of(wildcards).domain_options(wildcards.domain)


def published_storage(wildcards):
    return study.datasets[wildcards.dataset].storage(
        view_of(wildcards), wildcards.domain
    )


def resource_checks(wildcards):
    return checks_of(CATALOGUE, wildcards.dataset, wildcards.resource)


def showcase_overlap(wildcards):
    return study.overlap(wildcards.benchmark, MAIN)


def dataset_of(wildcards):
    return study.benchmarks[wildcards.benchmark].dataset


def draw_params(wildcards):
    facts = study.benchmarks[wildcards.benchmark]
    labelled, unlabelled = study.split_counts(
        wildcards.benchmark, wildcards.setting, wildcards.role
    )
    return {
        "protocol": study.protocol(wildcards.benchmark, wildcards.setting),
        "per_class": labelled,
        "unlabelled": unlabelled,
        "classes": list(study.datasets[facts.dataset].class_sizes[wildcards.domain]),
        "seed": study.seed,
    }


def fit_params(wildcards):
    return {
        "options": study.method_options(wildcards.method, wildcards.setting),
        "source_change": study.settings[wildcards.setting].source,
        "overlap": study.overlap(wildcards.benchmark, wildcards.setting),
        "seed": study.seed,
        "numeric_threads": study.numeric_threads,
    }


def fit_cost(wildcards):
    cell = (wildcards.benchmark, wildcards.setting, wildcards.task, wildcards.method)
    return job_cost(study, *cell, len(trials_of_block(wildcards.block)))


def fit_memory(wildcards):
    return fit_cost(wildcards).megabytes


def fit_minutes(wildcards):
    return fit_cost(wildcards).minutes


def method_digest(wildcards):
    return code_digest("cdspp.stages.fit", method_module(wildcards.method))


def showcase_options(wildcards):
    return study.method_options(REFERENCE, MAIN)


def showcase_digest(wildcards):
    return code_digest("cdspp.stages.subspace", method_module(REFERENCE))


def paper_folder(wildcards):
    return PAPER
