# Features: from files, or from another view, to one matrix per domain and view.
# A view that counts visual words first learns the words from one domain.

from functools import partial

from cdspp.study.fit_jobs import view_request


def view_inputs(pattern):
    inputs, specification = inputs_of(pattern), specification_of(pattern)

    def files(wildcards):
        named = inputs(wildcards)
        if NO_SHARED_DISK and "view" not in named:
            stored = [named[k] for k in ("index", "fetched", "weights") if k in named]
            own = study.datasets[dataset_of(wildcards)].own or {}
            folder = [own["folder"]] if "folder" in own else []
            own_files = specification(wildcards)["own_files"]
            named["archives"] = [*map(archive_of, stored)]
            named["own"] = own_input(*folder, *own_files)
        return named

    return files


def view_of(wildcards):
    return specifications.views[wildcards.view]


def codebook_domain(wildcards):
    return study.views[view_of(wildcards)].options["codebook_domain"]


def view_resource(name, wildcards, attempt):
    domain = getattr(wildcards, "domain", None) or codebook_domain(wildcards)
    names = dataset_of(wildcards), domain, view_of(wildcards)
    asked = view_request(study, *names, attempt)
    return getattr(asked, name)


rule codebook:
    input:
        unpack(view_inputs(CODEBOOK)),
    output:
        CODEBOOK,
        f"{CODEBOOK}.json",
    log:
        "logs/codebooks/{data}/{view}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=partial(view_resource, "megabytes"),
        runtime=partial(view_resource, "minutes"),
        gpu=partial(view_resource, "gpus"),
    params:
        specification=specification_of(CODEBOOK),
    script:
        "../scripts/codebook.py"


rule features:
    input:
        unpack(view_inputs(FEATURES)),
    output:
        FEATURES,
        f"{FEATURES}.json",
    log:
        "logs/features/{data}/{domain}.{view}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=partial(view_resource, "megabytes"),
        runtime=partial(view_resource, "minutes"),
        gpu=partial(view_resource, "gpus"),
    params:
        specification=specification_of(FEATURES),
    script:
        "../scripts/features.py"
