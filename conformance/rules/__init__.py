"""The index of rules as the suite uses it.

`index` gives a rule by its ID, `coverage` says which rules a run has exercised, `selection` reads `--rule`,
`places` finds where a rule is written down, `protocol_modules` lists the files that hold the protocol.
"""
