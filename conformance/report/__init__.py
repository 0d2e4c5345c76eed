"""What people get to read: `story` tells a divergence, `words` its events and effects.

`saved` keeps a divergence as a replay file and as a test; `conform` prints a run; `places` finds where a
rule stands.
"""
