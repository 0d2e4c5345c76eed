"""Kernels made of a closed model's paths, and the searches that run them."""
