"""Memoising by read set: a step is computed once for all states that agree in the parts that it reads."""
