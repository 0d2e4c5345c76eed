"""Explores and proves the model. This package knows no rule.

`explore` visits every state of a closed model. `symbolic` and `paths` run the same functions on symbols.
`prove`, `equivalence`, `relation` and `reachable` query z3. `compiled` makes kernels of a model and searches
at machine speed. `memoised` searches compositions: it stores the result of each move by the parts of the
state that the move reads.
"""
