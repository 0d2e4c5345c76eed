"""The task of a source: its steps at the coordinator's trigger and at the hook of an external system."""
