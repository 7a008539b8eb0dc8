# The study, where `snakemake` finds it first; as a module, name workflow/Snakefile.


include: "workflow/Snakefile"


workflow.default_target = "all"  # included files set none
