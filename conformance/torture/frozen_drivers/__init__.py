"""Rounds whose driver is frozen, replaced and thawed, and the processes that they run in."""
