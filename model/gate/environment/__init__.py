"""The closed models of a gate, by mode. Each states the items that the channels may deliver."""
