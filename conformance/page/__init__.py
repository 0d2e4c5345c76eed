"""One page about a run: a single HTML file that needs nothing else and nobody's network.

`case` is a sequence of steps with what was expected and what came; `draw` makes its space-time `diagram` by
`seats` (where each word stands) and `conditions` (what lasts), `layout` gives it places. `details` are the
values behind the stepper. `of_conform`, `of_trace` and `of_verify` fill a `document`, `render` writes it with
the template, the style and the program beside it.
"""
