"""Test vectors: runs of the model in the form of the wire, with every effect and state, for any language.

`vector` is one test vector with its line of JSON. `make` finds the runs, `transcripts` reads those that
people have written. `files` writes and reads a folder of vectors, and `check` plays them. `itf` writes a
vector in the Informal Trace Format, which tools around TLA+ read.
"""
