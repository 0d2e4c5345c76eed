"""Memoising by read set: a step of a composed model is computed once for each value of the parts it reads."""
