"""The parts of `barrierspec verify`, one module each; `verify` runs them and gives one verdict.

A part takes a `Context` and returns a `PartResult`, whose bound says how far a PASS reaches.
"""
