"""Compares the behaviour before and after a change of the protocol, and checks that the change is declared.

`compare_revisions` makes the two sides: revisions of the repository, or profiles of one model. `behaviour`
plays the runs of both sides on both sides, and shrinks the differences. `declared` compares the version of
the rule index and the changelog. `adapters` compares two versions of an implementation.
"""
