"""Pictures of small state graphs: what each part of the protocol does, drawn from the model.

`pictures.toml` lists them. `subjects` chooses what to draw of each component, `coordinator_parts` and
`composed` choose closed models; `graph` explores the model; `draw` makes an SVG of a graph; `pages` writes
all pictures, and a page that shows them. The wheel does not contain this folder.
"""
