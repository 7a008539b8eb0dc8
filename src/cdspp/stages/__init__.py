"""Jobs of the workflow, as functions from input paths to output files."""
