"""Cases with extreme values, such as large checkpoint ids or many channels, and the scope that was tested.

A verdict holds only within its bound. `tested_scope` records the scope that the cases of a component reached.
`ids`, `times` and `wide_gate_cases` make cases with larger values than random cases have; `mapped_cases` and
`wide_gates` play them. `lives` plays long sequences of checkpoints. `errors_and_failures` sends batches with
an event that must be refused, and makes new instances after failed ones. `check_replay` repeats a check that
has failed.
"""
