"""Speed, memory, error rates of verdicts: `python -m benchmarks --help` lists them."""
