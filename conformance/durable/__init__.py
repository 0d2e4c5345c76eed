"""Tests of durable data: they compare the data that a reader sees with the data that must be visible.

The tests need an implementation of a sink or a store that offers `observe`, which returns the data that a
reader sees. If the implementation also offers `restart`, the tests kill its process before and during events,
and start a new process on the same folder. The verdict depends on visible data, not on the answers of the
implementation.
"""
