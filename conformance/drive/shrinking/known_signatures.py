"""Finds whether a divergence is like a known one, by the signature of the divergence or of its shortest run.

A list of known divergences has one run for each of them. A divergence is known if its signature is that of a
listed one. If it is not, its shortest run may have such a signature, so `Signatures.place` shrinks it first.
"""

from conformance.adapters.protocol import Adapter
from conformance.divergence import Divergence
from conformance.drive.shrinking.shrink import shrink
from conformance.drive.signatures import Signature, signature


class Signatures:
    """The signatures of the known divergences of one adapter, and of all other divergences found so far."""

    def __init__(self, adapter: Adapter) -> None:
        self.names: dict[Signature, str] = {}
        """The name of the known divergence of each signature."""
        self._others: set[Signature] = set()
        self._adapter = adapter

    def place(self, divergence: Divergence) -> tuple[str | None, Divergence | None]:
        """The name of the known divergence with this signature, or None; the shortest run of a new one."""
        form = signature(divergence)
        if form in self.names or form in self._others:
            return self.names.get(form), None
        smallest = shrink(divergence, self._adapter)
        shortest = signature(smallest)
        name = self.names.get(shortest)
        if name is not None:
            self.names[form] = name
            return name, None
        is_first = shortest not in self._others
        self._others |= {form, shortest}
        return None, smallest if is_first else None

    def add(self, name: str, *divergences: Divergence) -> None:
        """Register the divergences as known under this name."""
        for divergence in divergences:
            self.names[signature(divergence)] = name
