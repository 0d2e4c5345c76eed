"""A divergence as a module of TLA+ that TLC replays: it extends the component's own, with what was recorded.

`seat` says how a component of the wire stands in its module. `gates` (with `aligning` and `overtaking`),
`channels`, `parts` and `coordinating` have those that there are, and `seats` picks one, or says why there is
none. `answers` has the answer that shows the divergence. `module` writes the module and lets TLC replay it.
"""

from conformance.vectors.tla.binding import NotInTlaError
from conformance.vectors.tla.module import Module, Replay, module_of, replay

__all__ = ["Module", "NotInTlaError", "Replay", "module_of", "replay"]
