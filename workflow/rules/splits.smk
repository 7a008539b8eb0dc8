# Splits: which samples are labelled in each trial of a block, per domain and role.
# The file of a target holds no label of a test sample.


def draw(wildcards):
    benchmark, setting = wildcards.benchmark, wildcards.setting
    labelled, unlabelled = study.split_counts(benchmark, setting, wildcards.role)
    sizes = study.datasets[dataset_of(wildcards)].class_sizes[wildcards.domain]
    return {
        "protocol": study.protocol(benchmark, setting),
        "per_class": labelled,
        "unlabelled": unlabelled,
        "classes": list(sizes),
        "seed": study.seed,
    }


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
        made_of=made_of(dataset_of, draw, code_digest("cdspp.stages.splits")),
    script:
        "../scripts/split.py"


# Pairs take part in nothing else; they have an id, and no label.
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
        made_of=made_of(study.seed, code_digest("cdspp.stages.splits")),
    script:
        "../scripts/pairs.py"
