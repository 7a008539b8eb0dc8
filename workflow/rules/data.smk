# Data: from a data set's name to its files in data/, and to the labels of a domain. Only
# splits, scores and figures read labels; no fit does.

from functools import cache
from itertools import chain

from cdspp.datasets.catalogue import checks_of
from cdspp.features import own_files


def unshared(*files):
    return list(files) if NO_SHARED_DISK else []


def updated(files):
    # Snakemake would first copy the present files, which storage does not have here.
    return files if NO_SHARED_DISK else update(files)


def own_input(*paths):
    # The content counts, not the date. No job loads the user's modules.
    return [local(ancient(path)) for path in unshared(*paths)]


def archive_of(record):
    # Outputs cannot depend on the data set in Snakemake, so one file contains them all.
    return f"{record}.tar"


def data_files(own):
    places = own or {}
    folder = [places["folder"]] if "folder" in places else []
    return [*places.get("tables", {}).values(), *folder]


def own_sources():
    paths = [TOP / "config.yaml", RESOURCES, TOP / "workflow/schemas"]
    paths += [p for data in study.datasets.values() for p in data_files(data.own)]
    for dataset, domain, name in study.feature_names():
        view = study.views[name]
        paths += own_files(view.extractor, view.domain_options(domain))
    for key in chain.from_iterable(map(study.fits, study.benchmarks)):
        files = files_of_fit(study, key)
        paths += [files["predictions"]] if "predictions" in files else []
    for path in map(Path, dict.fromkeys(paths)):
        yield from path.rglob("*.*") if path.is_dir() else [path]


@cache
def send_own_sources():
    # Snakemake sends configuration files to nodes with the workflow: the user's files must
    # go along, because each job reads the study, and the study reads its tables.
    snakemake_internals.add_sources(workflow, own_sources())


def dataset_of(wildcards):
    return specifications.datasets[wildcards.data]


def resource_checks(wildcards):
    return checks_of(CATALOGUE, wildcards.data, wildcards.resource)


rule fetch:
    input:
        no_input,
    output:
        FETCHED,
        *unshared(archive_of(FETCHED)),
    log:
        "logs/fetch/{data}/{resource}.log",
    retries: 1
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        runtime=240,
    params:
        checks=resource_checks,
    script:
        "../scripts/fetch.py"


def own_data_files(wildcards):
    if NO_SHARED_DISK and not snakemake_internals.runs_locally(workflow):
        send_own_sources()
    own = study.datasets[dataset_of(wildcards)].own
    return no_input(wildcards) + own_input(*data_files(own))


rule prepare_dataset:
    input:
        own_data_files,
    output:
        INDEX,
        f"{INDEX}.json",
        *unshared(archive_of(INDEX)),
    log:
        "logs/data/{data}.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        specification=specification_of(INDEX),
    script:
        "../scripts/prepare_dataset.py"


rule labels:
    input:
        unpack(inputs_of(LABELS)),
    output:
        LABELS,
        f"{LABELS}.json",
    log:
        "logs/labels/{data}/{domain}.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        specification=specification_of(LABELS),
    script:
        "../scripts/labels.py"
