# Splits: the labelled samples in each trial of a block, per domain and role.
# The file of a target holds no label of a test sample.


rule split:
    input:
        unpack(inputs_of(SPLIT)),
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
        specification=specification_of(SPLIT),
    script:
        "../scripts/split.py"


# Pairs are used only as such; they have an id, and no label.
rule pairs:
    input:
        unpack(inputs_of(PAIR_SPLIT)),
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
        specification=specification_of(PAIR_SPLIT),
    script:
        "../scripts/pairs.py"
