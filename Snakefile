# The study, where `snakemake` finds it first; as a module, name workflow/Snakefile.


include: "workflow/Snakefile"


snakemake_internals.set_default_target(workflow, "all")
