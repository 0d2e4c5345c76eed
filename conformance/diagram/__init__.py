"""Space-time diagrams of reports, of recorded runs and of the documentation.

Time runs from left to right, a column a step; a lane is a channel, a task, a checkpoint or a transaction.
`elements` has the elements of a diagram. `component` makes one from the steps of a component, `run` from a
recorded run of several tasks. Both use `lanes` (the place of each event and effect) and `conditions` (the
intervals in an observable state), as the vocabulary states them. `layout` gives every element its place, and
`figure` writes the diagram as HTML with the template and the style in `assets/`.
"""
