"""The commands of `barrierspec`, one room each, imported when the command is given.

A room is called like its command and hands out `command`, a click command that returns its exit code.
Rooms import engines (Spark, z3) inside the function, so that the help stays quick.
"""

COMPONENTS = ("gate", "channel", "subtask", "coordinator", "store", "sink", "offsets", "source")
"""What `--component` may name: those of `drive.generate`, which takes long to import."""
