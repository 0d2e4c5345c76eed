"""The plan of a job: its stages, whether it can run, and whether it can go on from another plan's
checkpoint.
"""
