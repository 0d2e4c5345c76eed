"""Engines that read the protocol and know no rule.

`explore` sees every state of a closed model; `symbolic` reads a step function path by path into z3;
`prove` shows a property for every id, or finds a concrete run that breaks it. `moves` reads a whole closed
model so, and `compiled` (numba) and `columns` (numpy) explore it at machine speed over packed states.
`framed` does so with the composition and with large coordinators, whose moves it asks of the model by what
they read (`frames`).
"""
