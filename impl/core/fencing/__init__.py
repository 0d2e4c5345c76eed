"""Drivers that share a storage: which of them may complete a checkpoint (vocabulary: `fencing`).

attempts   what the recorded attempts say, for the runtime's storage too
fencing    the component of the wire: drivers and a storage in memory
events     its events and effects
"""
