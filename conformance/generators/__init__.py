"""Random events that fit a component's state, one file for each component."""
