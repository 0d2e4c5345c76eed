"""Injects planned faults (`impl.faults`) into the driver and into workers."""
