"""A divergence as a module of TLA+ that TLC replays: it extends the component's own by the recorded events.

`binding` states how a component of the wire stands in its module; each component declares its own
(`conformance.components`). `answers` has the answer that shows the divergence. `module` writes the module and
lets TLC replay it.
"""
