"""Explores and proves the model. This package contains no rule of the protocol; `model.registry` has them.

`explore` visits every state of a closed model. `symbolic` and `paths` run the functions of the model on z3
terms. `prove`, `equivalence`, `relation` and `reachable` query z3. `compiled` generates kernels from a model
and compiles them to machine code. `memoised` searches compositions: it stores the result of each move by the
parts of the state that the move reads.
"""
