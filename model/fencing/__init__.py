"""Drivers of one job that share a storage, of which only the newest may complete a checkpoint.

fencing       the steps: each is one atomic operation of one driver
properties    FENCE-01 to FENCE-05
environment   the closed models
wire          the adapter protocol
events        made from the vocabulary
"""
