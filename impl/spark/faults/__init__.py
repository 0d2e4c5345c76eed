"""Subclasses of the driver's and the workers' classes, which inject planned faults (`impl.faults`)."""
