"""Where planned faults are injected, in the driver and in workers."""
