"""The plan of a job.

`plan` has its stages and edges, `topology` checks that it can run, `rescaling` that it can continue from a
checkpoint of another plan.
"""
