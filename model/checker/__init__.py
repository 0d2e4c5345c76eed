"""Explores and proves the model; this package knows no rule.

`explore` visits every state of a closed model. `symbolic` and `paths` run the same functions on symbols;
`prove`, `equivalence`, `relation` and `reachable` query z3. `compiled` makes kernels of a model and searches
at machine speed; `memoised` does so for compositions, by memoising each move for the parts that it reads.
"""
