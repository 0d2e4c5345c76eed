"""The task of a source (vocabulary: `source`): its answers when the coordinator triggers it."""
