"""Cases at the bounds: large checkpoint ids, many channels, batches with an error; and what was tried.

A verdict is worth as much as its bound. `tried` records what the cases of a component reached, `ids` and
`wide_gate_cases` make cases that go further than random ones do; `play` and `wide_gates` play
them. `conduct` sends batches with an event that must be refused, and makes new instances after failed ones.
"""
