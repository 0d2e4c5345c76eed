"""The task of a source: what it does with the coordinator's trigger."""
