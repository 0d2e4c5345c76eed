"""Drivers that share a storage: which of them may complete a checkpoint (vocabulary: `fencing`).

attempts   decisions from the recorded attempts; the storage of the runtime uses them too
fencing    the component of the wire: drivers and a storage in memory
events     its events and effects
"""
