"""Durable parts by their real effects: what a reader sees of a sink or a store whose process is killed.

An implementation that offers `observe` shows what a reader of its durable data sees; one that also offers
`restart` is killed before and during events, and continues in a new process on the same folder. The judge is
what is visible, not what the implementation answers.
"""
