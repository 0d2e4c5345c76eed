"""Test suites that are complete for implementations with a bounded number of states.

`alphabet` makes the events of a component finite, `gate` and its neighbours list the letters,
`model_machine` reads the model off as a machine, `h_method` makes the suite, `play` plays it in `conform`,
`hidden_states` makes wrong
machines, and `detection_rate` measures how many of them each suite refuses.
"""
