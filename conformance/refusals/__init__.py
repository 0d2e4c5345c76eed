"""Why the model refuses an answer: every action for the event, and the guards that fail.

`answer` is an event in a state, and the refused answer to it. `candidates` runs the model's component on the
event with a state of symbols, which gives every path with its guards. `guards` states in words the guards
that fail for the actual values. `conflict` has z3 find the fewest values that exclude the answer.
`conformance.report.divergence.refusal` prints all of it.
"""
