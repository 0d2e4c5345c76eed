"""Tests of durable data: what a reader sees of a sink or a store whose process is killed.

An implementation that offers `observe` shows what a reader of its durable data sees; one that also offers
`restart` is killed before and during events, and continues in a new process on the same folder. The verdict
depends on visible data, not on the answers of the implementation.
"""
