"""Every state of a closed model: on this machine, or as an ordinary Spark job where that outgrows it.

`models` are those that have a name, `local` searches them in Python or compiled, `afar` on Spark; `larger`
are those that a verification searches by kernels, once these agree with Python. For the search on Spark, in
`spark`, `states` orders packed states and tells known ones from new, and `levels` keeps what was found on
disk, level by level, so that a search goes on where it was ended. None of it knows a rule.
"""
