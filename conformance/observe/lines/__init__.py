"""Lines of an event log: `line` defines a line, `shape` finds the text that many lines have in common."""
