"""Pictures of small state graphs: what each part of the protocol does, drawn from the model.

`subjects` says of which parts, with which few events, and `joined` of which parts together; `graph` walks
the model; `draw` makes an SVG of a graph; `pages` writes them all, with a page that shows them. Nothing is
drawn by hand.
"""
