"""A seeded fuzzer of everything that others write: command lines, answers of adapters, stored files.

`judge` runs one case in a process of its own, with bounds of processor time and memory, and says what is
wrong with how it ended; `hostile` has the values and the damages; `lines`, `answers` and `files` make cases.
`python -m tests.fuzz --cases 1000 --seed 7` runs many, and prints the command that repeats each finding.
"""
