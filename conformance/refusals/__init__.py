"""Explains why the model refuses an answer: every action for the event, and the guards that fail.

`refused_answer` has the event, the state and the refused answer. `candidates` runs the model's component on
the event with a symbolic state, which gives every path with its guards. `guards` writes as text the guards
that fail for the actual values. `conflict` uses z3 to find a minimal set of values that exclude the answer.
`conformance.report.divergence.refusal` prints all of it.
"""
