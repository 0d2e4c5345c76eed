"""Test suites that are complete for implementations with a bounded number of states.

`alphabet` makes the events of a component finite; `gate`, `coordinator` and `components` list the letters.
`model_machine` explores the model over an alphabet, `h_method` makes the suite, `play` plays it in `conform`.
`hidden_states` makes wrong machines, and `detection_rate` measures how many of them each suite detects.
"""
