"""Test vectors: runs of the model in the form of the wire, with every effect and state, for any language.

`vector` is one of them and its line of JSON. `make` finds the runs, `transcripts` reads those that people
have written. `files` writes and reads a folder;
`check` plays them. `itf` writes one in the Informal Trace Format, which tools around TLA+ read.
"""
