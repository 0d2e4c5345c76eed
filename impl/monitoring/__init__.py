"""What a user sees of a running job from outside: the statistics of its checkpoints, its REST interface with
the names of Flink's, and the web page that reads it.
"""
