"""The checkpoint coordinator of one job (vocabulary: `coordinator`).

`coordinator` takes the events. `trigger` starts checkpoints, `completion` ends them, and `timers` has the
steps when time passes. `state` is the state that these modules share: the `job`, the waiting `requests`, the
`pending` checkpoints, the `failures`, the `scheduler` and its job status listener. `options` is the
configuration, `profiles` the generations.
"""
