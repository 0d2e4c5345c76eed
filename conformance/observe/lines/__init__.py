"""Lines of an event log: `line` is one of them, `shape` the text that many of them have in common."""
