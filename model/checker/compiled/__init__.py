"""Generates kernels from the paths of a closed model, and searches the state graph with them."""
