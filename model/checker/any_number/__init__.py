"""Proofs for any number of channels, tasks, ids or transactions, from the unchanged functions of the model.

A state here holds *ropes* (`rope`): sequences with a few named elements and, between them, any number of
others, each of which is a function of its index. `reread` reads the source of step functions and properties
once more with another meaning of Python's own words for sequences (`walks`: `all`, `any`, `tuple`, `zip`,
`len`, ...): over ropes they give quantified terms. `sums` has what is used of sums, `cases` the proof of one
case, `expansion` the comparison with the plain functions at small numbers.
"""
