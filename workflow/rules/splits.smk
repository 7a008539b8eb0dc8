# Splits: the labelled samples in each trial of a block, per domain and role.
# The file of a target holds no label of a test sample.


def draw(wildcards):
    names = ("benchmark", "setting", "role", "domain")
    return study.draw(*(wildcards[name] for name in names))


rule split:
    input:
        domain_labels,
    output:
        SPLIT,
        f"{SPLIT}.json",
    log:
        "logs/{study}/splits/{benchmark}/{setting}/{role}/{domain}/{block}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        runtime=1,
    params:
        dataset=dataset_of,
        draw=draw,
        made_of=made_of(SPLIT),
    script:
        "../scripts/split.py"


# Pairs are used only as such; they have an id, and no label.
def benchmark_index(wildcards):
    return INDEX.format(dataset=dataset_of(wildcards))


rule pairs:
    input:
        benchmark_index,
    output:
        PAIR_SPLIT,
        f"{PAIR_SPLIT}.json",
    log:
        "logs/{study}/splits/{benchmark}/main/pairs/{block}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        runtime=1,
    params:
        seed=study.seed,
        made_of=made_of(PAIR_SPLIT),
    script:
        "../scripts/pairs.py"
