"""Search of composed models: Python computes every move once for each combination of the parts it reads."""
