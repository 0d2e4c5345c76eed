"""Active automata learning: the finite machine of an implementation, compared with the model's.

`system` puts an implementation behind an alphabet, `learn` infers its machine, `compare` finds where it
differs from the model's, and `formats` and `tla` write it. `learn_and_compare` runs all of them.
"""
