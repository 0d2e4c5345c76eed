"""Events at once: an implementation takes several without waiting, and any order of the model explains it."""
