"""The components `coordinator` and `failures` in the adapter protocol."""

from model.coordinator.wire.coordinator import COMPONENT

__all__ = ["COMPONENT"]
