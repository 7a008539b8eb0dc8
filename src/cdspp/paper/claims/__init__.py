"""Claims of the paper, each a computed check."""
