"""One channel of unaligned checkpoints, from the sender's queue to the receiver's, and between two tasks."""
