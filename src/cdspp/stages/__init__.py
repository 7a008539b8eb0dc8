"""Jobs of the workflow: paths in, files out."""
