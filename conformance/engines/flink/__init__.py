"""A job on a cluster of real processes from the jars of a released Flink; `java/` has the job."""
