# The paper: its claims, its printed numbers beside ours, and where its released code
# differs; what they need stands in resources/paper.


localrules:
    printed,
    printed_choices,
    claims,
    deviations,
    time_claims,


rule printed:
    input:
        scores=EVERY_SCORES,
    output:
        table_files("results/{study}/tables/printed-methods", "printed-methods.rst"),
        table_files("results/{study}/tables/printed", "printed.rst"),
    log:
        "logs/{study}/tables/printed.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        paper=PAPER,
        code=script_code("printed"),
    script:
        "../scripts/printed.py"


rule printed_choices:
    input:
        scores=EVERY_SCORES,
    output:
        table_files("results/{study}/tables/printed-choices", "printed-choices.rst"),
    log:
        "logs/{study}/tables/printed-choices.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        paper=PAPER,
        code=script_code("printed_choices"),
    script:
        "../scripts/printed_choices.py"


rule claims:
    input:
        scores=EVERY_SCORES,
        comparisons=EVERY_COMPARISONS,
        rows=EVERY_ROW_SCORES,
    output:
        table_files("results/{study}/tables/claims-overview", "claims-overview.rst"),
        table_files("results/{study}/tables/claims", "claims.rst"),
    log:
        "logs/{study}/tables/claims.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        paper=PAPER,
        code=script_code("claims"),
    script:
        "../scripts/claims.py"


rule deviations:
    input:
        scores=EVERY_SCORES,
    output:
        table_files("results/{study}/tables/deviations", "deviations.rst"),
    log:
        "logs/{study}/tables/deviations.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        paper=PAPER,
        code=script_code("deviations"),
    script:
        "../scripts/deviations.py"


rule time_claims:
    input:
        records=main_records,
    output:
        table_files("results/{study}/timings/time-claims", "time-claims.rst", "Timings"),
    log:
        "logs/{study}/timings/time-claims.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        paper=PAPER,
        code=script_code("time_claims"),
    script:
        "../scripts/time_claims.py"
