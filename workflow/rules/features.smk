# Features: from files, or from another view, to one matrix per domain and view.
# A view that counts visual words first learns the words from one domain.

from functools import partial

from cdspp.features import extractor_class, own_files, pretrained_network
from cdspp.features.base import WordExtractor
from cdspp.study.fit_jobs import view_request


def view_of(wildcards):
    return study.views[wildcards.view]


def view_files(wildcards, domain=None):
    dataset, view = wildcards.dataset, view_of(wildcards)
    files = {"index": INDEX.format(dataset=dataset)}
    resource = study.datasets[dataset].resource(view, domain)
    if resource is not None:
        files["fetched"] = FETCHED.format(dataset=dataset, resource=resource)
    network = pretrained_network(view.extractor, view.options)
    if network is not None:
        files["weights"] = FETCHED.format(dataset="backbones", resource=network)
    if NO_SHARED_DISK:
        options = view.domain_options(domain or view.options["codebook_domain"])
        files["archives"] = [*map(archive_of, files.values())]
        kept = own_data(wildcards) or {}
        folder = [kept["folder"]] if "folder" in kept else []
        files["own"] = own_input(*folder, *own_files(view.extractor, options))
    return files


def extractor_name(wildcards):
    return view_of(wildcards).extractor


def codebook_domain(wildcards):
    return view_of(wildcards).options["codebook_domain"]


def codebook_options(wildcards):
    return view_of(wildcards).domain_options(codebook_domain(wildcards))


def view_resource(name, wildcards, attempt):
    domain = getattr(wildcards, "domain", None) or codebook_domain(wildcards)
    asked = view_request(study, wildcards.dataset, domain, wildcards.view, attempt)
    return getattr(asked, name)


rule codebook:
    input:
        unpack(view_files),
    output:
        CODEBOOK,
        f"{CODEBOOK}.json",
    log:
        "logs/codebooks/{dataset}/{view}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=partial(view_resource, "megabytes"),
        runtime=partial(view_resource, "minutes"),
        gpu=partial(view_resource, "gpus"),
    params:
        extractor=extractor_name,
        options=codebook_options,
        numeric_threads=study.numeric_threads,
        made_of=made_of(CODEBOOK),
    script:
        "../scripts/codebook.py"


def feature_input(wildcards):
    dataset, domain, view = wildcards.dataset, wildcards.domain, view_of(wildcards)
    if view.view is not None:
        return {"view": FEATURES.format(dataset=dataset, domain=domain, view=view.view)}
    files = view_files(wildcards, domain)
    if issubclass(extractor_class(view.extractor), WordExtractor):
        files["codebook"] = CODEBOOK.format(dataset=dataset, view=view.identifier)
    return files


def extractor_options(wildcards):
    return view_of(wildcards).domain_options(wildcards.domain)


def own_places(wildcards):
    return own_files(extractor_name(wildcards), extractor_options(wildcards))


def view_scale(wildcards):
    return view_of(wildcards).scale


def published_spec(wildcards):
    dataset = study.datasets[wildcards.dataset]
    return dataset.spec(view_of(wildcards), wildcards.domain)


rule features:
    input:
        unpack(feature_input),
    output:
        FEATURES,
        f"{FEATURES}.json",
    log:
        "logs/features/{dataset}/{domain}.{view}.log",
    conda:
        "../../envs/environment.yaml"
    threads: study.numeric_threads
    resources:
        mem_mb=partial(view_resource, "megabytes"),
        runtime=partial(view_resource, "minutes"),
        gpu=partial(view_resource, "gpus"),
    params:
        extractor=extractor_name,
        options=extractor_options,
        scale=view_scale,
        own_files=own_places,
        spec=published_spec,
        numeric_threads=study.numeric_threads,
        made_of=made_of(FEATURES),
    script:
        "../scripts/features.py"
