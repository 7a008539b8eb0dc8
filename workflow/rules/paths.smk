# Where files lie, and how tables and figures enter Snakemake's own report.


def index_of(dataset):
    return f"data/{dataset}/index.json"


def record_of(dataset, resource):
    return str(record_path("data", dataset, resource))


def codebook_of(dataset, view):
    return f"results/codebooks/{dataset}/{view}.npz"


def features_of(dataset, domain, view):
    return f"results/features/{dataset}/{domain}.{view}.npz"


def labels_of(dataset, domain):
    return f"results/labels/{dataset}/{domain}.parquet"


def split_of(names, role, domain):
    setting = study.split_setting(names["setting"], role)
    folder = f"results/{names['study']}/splits/{names['benchmark']}/{setting}"
    return f"{folder}/{role}/{domain}/{names['block']}.parquet"


def table(name, caption):
    path = f"results/{{study}}/tables/{name}.csv"
    return report(path, caption=caption, category="Tables", labels={"table": name})


def plain_tables(*names):
    return expand(
        "results/{{study}}/tables/{name}.{ext}", name=names, ext=["md", "tex", "html"]
    )


def figure(name, caption):
    path = f"results/{{study}}/figures/{name}.svg"
    return report(path, caption=caption, category="Figures", labels={"figure": name})


def plain_figures(*names):
    return expand("results/{{study}}/figures/{name}.png", name=names)


def paper_files(*names):
    return [f"{PAPER}/{name}" for name in names]
