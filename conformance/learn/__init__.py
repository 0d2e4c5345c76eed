"""Active automata learning: infers the finite machine of an implementation, and compares it with the model's.

`system` connects an implementation to the learner, `learn` infers its machine, `compare` finds the
differences from the model's machine, and `formats` and `tla` write the machine to files. `learn_and_compare`
runs all.
"""
