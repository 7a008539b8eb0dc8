"""TIT: kernels, graphs, landmarks."""
