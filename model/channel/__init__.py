"""One channel of unaligned checkpoints, from the sender's queue to the receiver's, and a channel between
two tasks.
"""
