"""Cases at the bounds: large checkpoint ids, many channels, batches with an error; and what was tried.

A verdict is worth as much as its bound. `tested_scope` records what the cases of a component reached. `ids`,
`times` and `wide_gate_cases` make cases that go further than random ones do; `mapped_cases` and `wide_gates`
play them. `lives` plays long sequences of checkpoints. `errors_and_failures` sends batches with an event that
must be refused, and makes new instances after failed ones. `check_replay` repeats a check that has failed.
"""
