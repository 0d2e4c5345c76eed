"""Monitoring of a running job: the statistics of its checkpoints, its REST interface with Flink's names, and
the web page that reads this interface.
"""
