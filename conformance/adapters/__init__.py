"""Adapters connect implementations with the suite, in this process or through the pipes of another process.

`protocol` has the requests and a type for each answer; `frames` converts them to lines of JSON and back;
`validation` reads the published JSON Schemas. `in_process` adapts the model and Python objects with the same
methods, `bundled` our own implementation, `process` a command. `serve` answers requests on stdin and stdout.
"""
