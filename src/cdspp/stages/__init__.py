"""What one job of the workflow computes: paths in, files out."""
