"""Proofs for any number of channels, tasks, ids or transactions, from the unchanged functions of the model.

In these proofs a state holds *ropes* (`rope`): sequences with a few named elements and, between them, any
number of others, each of which is a function of its index. `recompiled_model` compiles the source of step
functions and properties again, with another meaning of Python's functions for sequences
(`sequence_functions`: `all`, `any`, `tuple`, `zip`, `len`, ...). Over ropes they give quantified terms.
`sums` has the laws of sums, `cases` the proof of one case, and `expansion` the comparison with the plain
functions at small numbers.
"""
