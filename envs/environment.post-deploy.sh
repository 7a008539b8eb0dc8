#!/usr/bin/env bash
# Run by Snakemake in the conda environment, from the working folder: adds the library.
set -euo pipefail
python -m pip install --no-deps .
