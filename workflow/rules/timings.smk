# Timings: tables of the seconds that fits took. They differ from run to run, and so have
# a folder of their own, apart from the tables that do not.


localrules:
    times,


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
