"""Kernels, which are generated from the paths of a closed model, and the searches that run them."""
