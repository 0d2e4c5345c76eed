"""Test vectors: runs of the model as JSON, with every effect and state, for implementations in any language.

`vector` defines one test vector and its line of JSON. `make` finds the runs, `transcripts` reads golden
transcripts. `files` writes and reads a folder of vectors, and `check` plays them. `itf` writes a vector in
the Informal Trace Format, which tools for TLA+ read. `tla` writes a divergence as a module that TLC replays.
"""
