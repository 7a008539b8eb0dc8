# Inputs of rules, each function named after what it returns.


def file_input(dataset, view, domain=None):
    files = {"index": index_of(dataset)}
    resource = study.datasets[dataset].resource(view, domain)
    if resource is not None:
        files["fetched"] = record_of(dataset, resource)
    network = pretrained_network(view.extractor, view.options)
    if network is not None:
        files["weights"] = record_of("backbones", network)
    return files


def codebook_input(wildcards):
    return file_input(wildcards.dataset, view_of(wildcards))


def feature_input(wildcards):
    dataset, domain, view = wildcards.dataset, wildcards.domain, view_of(wildcards)
    if view.view is not None:
        return {"view": features_of(dataset, domain, view.view)}
    files = file_input(dataset, view, domain)
    if needs_codebook(view.extractor):
        files["codebook"] = codebook_of(dataset, view.identifier)
    return files


def split_labels(wildcards):
    return labels_of(dataset_of(wildcards), wildcards.domain)


def fit_input(wildcards):
    facts = study.benchmarks[wildcards.benchmark]
    source, target = wildcards.task.split("_")
    names = {"study": wildcards.study, "benchmark": wildcards.benchmark}
    names["setting"] = getattr(wildcards, "setting", MAIN)
    block = getattr(wildcards, "block", None)
    names["block"] = block or study.showcase_blocks()[0]
    return {
        "source_features": features_of(facts.dataset, source, facts.source_view),
        "target_features": features_of(facts.dataset, target, facts.target_view),
        "source_split": split_of(names, "source", source),
        "target_split": split_of(names, "target", target),
    }


def cell_files(benchmark):
    files = [
        f"{RESULTS}/fits/{'/'.join(cell)}.parquet" for cell in study.cells(benchmark)
    ]
    return [file for file in files if Path(file).exists()] if study.partial else files


def fit_files(wildcards):
    return cell_files(wildcards.benchmark)


def main_splits(wildcards):
    return [
        split_of({**wildcards, "setting": MAIN, "block": block}, role, domain)
        for role, domains in study.roles(wildcards.benchmark).items()
        for domain in domains
        for block in study.blocks(study.trials)
    ]


def contents_input(wildcards):
    facts = study.benchmarks[wildcards.benchmark]
    roles = study.roles(wildcards.benchmark)
    views = {"source": facts.source_view, "target": facts.target_view}
    pairs = [(role, domain) for role, domains in roles.items() for domain in domains]
    return {
        "labels": sorted({labels_of(facts.dataset, domain) for _, domain in pairs}),
        "features": sorted(
            {features_of(facts.dataset, domain, views[role]) for role, domain in pairs}
        ),
        "splits": main_splits(wildcards),
    }


def target_labels(wildcards):
    dataset = dataset_of(wildcards)
    domains = study.roles(wildcards.benchmark)["target"]
    return [labels_of(dataset, domain) for domain in domains]


def showcase_fits(wildcards):
    task = showcase(wildcards)
    folder = f"{RESULTS}/fits/{wildcards.benchmark}/{MAIN}/{task}/{REFERENCE}"
    return [f"{folder}/{block}.parquet" for block in study.showcase_blocks()]


def showcase_subspace(wildcards):
    return f"{RESULTS}/subspace/{wildcards.benchmark}/{showcase(wildcards)}.npz"


def showcase_labels(wildcards):
    dataset = dataset_of(wildcards)
    source, target = showcase(wildcards).split("_")
    return {
        "source_labels": labels_of(dataset, source),
        "target_labels": labels_of(dataset, target),
    }


def report_tables(wildcards):
    layouts = all_layouts(wildcards)
    makers = (benchmark_tables, curve_tables, contents_tables)
    names = [n for layout in layouts for maker in makers for n in maker(layout)]
    names += [f"overlap_{benchmark}" for benchmark in study.benchmarks]
    names += [*overall_tables(layouts), *gains_tables(layouts), *times_tables(layouts)]
    names += [*printed_tables(), *claims_tables(layouts), *deviation_tables()]
    return expand(f"{RESULTS}/tables/{{name}}.{{ext}}", name=names, ext=["csv", "html"])


def report_figures(wildcards):
    layouts = all_layouts(wildcards)
    makers = (benchmark_figures, curve_figures)
    names = [n for layout in layouts for maker in makers for n in maker(layout)]
    names += overall_figures(layouts)
    return [f"{RESULTS}/figures/{name}.svg" for name in names]


def report_records(wildcards):
    files = [file for name in study.benchmarks for file in cell_files(name)]
    return [str(Path(file).with_suffix(".json")) for file in files]


def main_records(wildcards):
    rooms = tuple(f"{RESULTS}/fits/{name}/{MAIN}/" for name in study.benchmarks)
    return [file for file in report_records(wildcards) if file.startswith(rooms)]


def all_scores(wildcards):
    return [f"{RESULTS}/scores/{benchmark}.parquet" for benchmark in study.benchmarks]


def feature_files(wildcards):
    return [features_of(*names) for names in study.feature_names()]
