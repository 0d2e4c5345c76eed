"""One channel of unaligned checkpoints: the sender's queue, the receiver's, and what is stored of
both.
"""
