"""The parts of `barrierspec verify`, one module for each. `verify` runs them and gives one verdict.

A part takes a `Context` and returns a `PartResult`. Its field `bound` states the scope of a pass.
"""
