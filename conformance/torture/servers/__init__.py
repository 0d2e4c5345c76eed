"""Servers for tests and campaigns, each a separate process on loopback.

object_server     an object store that speaks S3
postgres_server   PostgreSQL
spark_cluster     a standalone cluster of Spark, whose workers share no disk
loopback          finds a free port, and waits until a server listens
"""
