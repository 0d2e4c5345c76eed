"""Space-time diagrams of reports, of recorded runs and of the documentation.

Time runs from left to right, one column for each step. A lane is a channel, a task, a checkpoint or a
transaction. `elements` has the elements of a diagram. `component` makes one from the steps of a component,
`run` from a recorded run of several tasks. Both read from the vocabulary the place of each event and effect
(`lanes`) and the intervals of an observable state (`conditions`). `layout` computes the position of every
element, and `figure` writes the diagram as HTML with the template and the style in `assets/`.
"""
