"""Visits every state of a closed model, on this machine or, if the model is too large for it, on Spark.

`models` lists the models that have a name. `local` searches a model on this machine, in Python or compiled.
`search_on_spark` searches it on Spark. `large_gates` lists the gates that a verification searches with
compiled kernels, after it has compared the kernels with Python. The search on Spark consists of three
modules: `spark` runs the jobs, `states` sorts packed states and finds the new ones, and `stored_search`
stores all states level by level, so that an interrupted search continues. No module here contains a rule.

Two modules explore protocols under discussion (docs/change/): `proposed_coordinator` checks a proposed
generation of the coordinator with the released rules, and `proposed_protocols` compares interpretations of a
proposal on small dataflows.
"""
