"""Rounds whose driver is frozen, replaced and thawed, and a session that runs them without Spark."""
