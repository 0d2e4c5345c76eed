"""The closed models of a gate, by mode. Their environments define the items that channels may deliver."""
