"""Pictures of small state graphs of each part of the protocol, drawn from the model.

`pictures.toml` lists them. `subjects` defines the pictures of components, `coordinator_parts` and `composed`
those of closed models. `graph` explores the model, `draw` makes an SVG of a graph, and `pages` writes all
pictures and a page that shows them. The wheel does not contain this folder.
"""
