"""Compares the behaviour before and after a change of the protocol, and checks that the change is declared.

`compare_revisions` makes the two sides (revisions of the repository, or profiles of one model), `behaviour`
plays the runs of each on the other and shrinks the differences, `declared` reads version and changelog.
"""
