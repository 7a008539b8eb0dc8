#!/usr/bin/env bash
# Run by Snakemake in the conda environment, from the working folder: adds the library.
set -euo pipefail
[ -f pyproject.toml ] || { echo "Expected the folder of the repository." >&2; exit 1; }
python -m pip install --no-deps .
