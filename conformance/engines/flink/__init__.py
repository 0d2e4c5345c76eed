"""Runs the job on a cluster of processes from the jars of a released Flink. `java/` has the job."""
