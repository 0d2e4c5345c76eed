"""Space-time diagrams of reports, of recorded runs and of the documentation.

Time runs from left to right, a column a step; a lane is a channel, a task, a checkpoint or a transaction.
`elements` has the elements of a diagram. `component` makes one from the steps of a component, `run` from a
recorded run of several tasks, both with `lanes` (where each word stands) and `conditions` (the intervals in
an observable state), as the vocabulary states. `layout` gives every element its place, and `figure` writes it
as HTML with the template and the style in `assets/`.
"""
