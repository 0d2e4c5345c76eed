"""Writes a divergence as a TLA+ module that TLC replays: the component's module with the recorded events.

`binding` states how a component of the adapter protocol is written in its module; each component declares its
binding (`conformance.components`). `answers` writes the wrong answer in TLA+. `module` writes the module, and
replays it with TLC.
"""
