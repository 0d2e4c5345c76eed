"""Fault campaigns: many short runs (rounds) of a job, with several faults in each, and checks after each.

`rounds` draws the rounds from a seed. `local_round` runs a round in a Spark session that several rounds
share, `separate_driver_round` runs a round whose driver or executors are killed, `frozen_drivers` a round
whose driver is frozen, and `streaming` a round of Structured Streaming (`streaming_query`). `account` reads
output and state for the classifier of `conformance.observe.guarantees`, `leftovers` finds files, sockets and
processes that remain, and `judge` makes the result. `faulty_store` is an object store whose requests fail,
and `brokers` has a broker of the Kafka protocol that fails. `campaign` runs the rounds, and `report` prints
the results.
"""
