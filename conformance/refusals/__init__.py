"""Why an answer was refused: everything that the protocol could do with the event, and what stood in the way.

`asked` is an event in a state and what was said to it. `candidates` runs the model's component on the event
with a state whose values are symbols, so that every way through it comes out with its guards; `guards` says
in words which of them fail for the values that there are; `conflict` asks z3 for the fewest values that
exclude the answer. `conformance.report.divergence.refusal` tells it all.
"""
