"""Adapters connect implementations with the suite: one protocol, in this process or over pipes.

`protocol` is the in-process twin of the wire with a type for each outcome; `frames` turns requests and
answers into lines and back; `validation` hands out the published JSON Schemas. `in_process` adapts the
model and anything like it, `bundled` our own implementation, `process` a command; `serve` is the other
end of the pipes.
"""
