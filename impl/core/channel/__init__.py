"""One channel of unaligned checkpoints (vocabulary: `channel`), from its sender's queue to its receiver's.

`channel` is the component; `sender` and `receiver` are its two ends, which the runtime uses directly.
"""
