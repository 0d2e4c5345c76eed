"""One page about a run: a single HTML file that needs no other file and no network.

`case` is a sequence of steps with the expected and the actual answers; `conformance.diagram` draws it.
`details` are the values behind the stepper. `of_conform`, `of_flink`, `of_trace` and `of_verify` fill a
`document`; `render` writes it with the template, the style and the program in `assets/`.
"""
