"""Pictures of small state graphs: what each part of the protocol does, drawn from the model.

`pictures.toml` lists them. `subjects` draws the components of the wire, `coordinating` and `joined` closed
models; `graph` walks the model; `draw` makes an SVG of a graph; `pages` writes them all, with a page that
shows them. The wheel does not contain this folder.
"""
