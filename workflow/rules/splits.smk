# Splits: the labelled samples in each trial of a batch, per domain and role.
# The file of a target holds no label of a test sample.

from itertools import chain

from cdspp.study.files import files_before_fits


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


def every_file_before_fits(wildcards):
    return list(chain(*files_before_fits(study).values()))


# A target, as Snakemake cannot run `--until features`: it starts no job that waits for
# another job named by --until, and a view may be based on another view.
rule before_fits:
    input:
        every_file_before_fits,
    localrule: True
