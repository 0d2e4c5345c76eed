"""The cases of a gate with any number of channels, by mode. Ropes represent the channels."""
