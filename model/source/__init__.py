"""The task of a source: its steps at the coordinator's trigger."""
