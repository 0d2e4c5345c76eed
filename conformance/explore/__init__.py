"""Every state of a closed model: on this machine, or as an ordinary Spark job where that outgrows it.

`models` are those that have a name, `local` searches them in Python or compiled, `afar` on Spark; `larger`
are those that a verification searches by kernels, once these agree with Python. For the search on Spark, in
`spark`, `states` orders packed states and finds the new ones, and `stored_search` keeps all states on disk,
level by level, so that a search continues where it was interrupted. None of these knows a rule.

Two commands explore protocols under discussion (docs/change/): `proposed_coordinator` a proposed generation
of the coordinator with the released rules, `readings` the readings of a proposal on small dataflows.
"""
