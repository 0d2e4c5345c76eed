"""Memoising by read set: the model computes a step once for all states that agree in the parts it reads."""
