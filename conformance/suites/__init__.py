"""Complete suites: test suites that find every wrong implementation with a bounded number of states.

`alphabet` describes events by a finite number of letters; `gate`, `coordinator` and `components` list the
letters. `model_machine` explores the model over an alphabet, `h_method` makes the suite, and `play` plays it
in `conform`. `hidden_states` makes wrong machines, and `detection_rate` measures how many each suite detects.
"""
