"""The HTML page about a run: a single file that needs no other file and no network.

`case` has a sequence of steps with the expected and the actual answers; `conformance.diagram` draws it.
`details` has the values that the page shows for each step. `of_conform`, `of_flink`, `of_trace` and
`of_verify` fill a `document`; `render` writes it with the template, the style and the program in `assets/`.
"""
