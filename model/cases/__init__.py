"""The cases of the proofs: for each component the shapes of state and event that z3 is asked about.

`published` deals out all of them; each other room has those of one component or mode.
"""
