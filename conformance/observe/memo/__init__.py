"""Steps of the model that were taken before, under a shift of the checkpoint ids.

A gate and a subtask only compare ids with each other: they never look at an id's value. So a step is the same
when all ids are greater by the same number. `shifted` remembers steps with ids relative to the newest one.
The model itself takes each step the first time, and a test compares both on shifted states.
"""
