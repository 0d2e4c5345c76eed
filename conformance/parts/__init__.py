"""The parts of `barrierspec verify`, one room each: what is run, and what it is judged by.

A part gets a `Context` and gives a `PartResult`, whose bound says how far a PASS reaches. A part never
decides about the others; `conformance.verify` puts them together.
"""
