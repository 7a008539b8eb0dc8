# Timings: tables of the seconds that fits took. They differ from run to run, and so have
# a folder of their own, apart from the tables that do not.


localrules:
    times,
    time_claims,


rule times:
    input:
        records=main_records,
    output:
        table_files("results/{study}/timings/times", "times.rst", "Timings"),
    log:
        "logs/{study}/timings/times.log",
    conda:
        "../../envs/environment.yaml"
    params:
        plans=EVERY_PLAN,
        paper=PAPER,
        code=script_code("times"),
    script:
        "../scripts/times.py"


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
        code=script_code("time_claims"),
    script:
        "../scripts/time_claims.py"
