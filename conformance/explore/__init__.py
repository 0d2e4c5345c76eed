"""Exploration as an ordinary Spark job, for state spaces that outgrow one machine.

`states` orders packed states and tells known ones from new; `levels` keeps what was found on disk, level by
level, so that a search goes on where it was ended; `spark` is the search. It reads the kernels of
`model.engines.columns` and knows no rule.
"""
