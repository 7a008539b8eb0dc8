"""What the paper claims, each claim a computed check."""
