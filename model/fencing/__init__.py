"""Drivers of one job that share a storage. Only the newest driver may complete a checkpoint.

fencing       the steps: each step is one atomic operation of one driver
properties    the rules FENCE-01 to FENCE-05 as predicates
environment   the closed models
wire          the interface to the adapter protocol
events        the classes of events and effects, made from the vocabulary
"""
