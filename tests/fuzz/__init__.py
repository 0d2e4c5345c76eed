"""A seeded fuzzer of all external input: command lines, answers of adapters, stored files.

`judge` runs one case in a separate process with limits of processor time and memory, and returns why its end
is wrong. `hostile` has the hostile values and the ways to damage bytes. `lines`, `answers` and `files` make
cases. `python -m tests.fuzz --cases 1000 --seed 7` runs many cases, and prints for each finding the command
that repeats it.
"""
