"""What a change of the protocol changes: two models side by side, and whether the change is declared.

`sides` makes the two (revisions of the repository, or profiles of one model), `behaviour` plays the runs of
each on the other and shrinks what differs, `declared` looks at version and changelog.
"""
