"""The plan of a job.

`plan` has the stages and edges. `plan_checks` checks that a plan can run. `rescaling` checks that it can
continue from a checkpoint of another plan, and distributes the state anew.
"""
