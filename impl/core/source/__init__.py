"""The task of a source (vocabulary: `source`): what it does when the coordinator triggers it."""
