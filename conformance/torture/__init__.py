"""Fault campaigns: many short runs (rounds) of a job, with several faults in each, and checks after each.

campaign                runs the rounds, and `report` prints the results
rounds                  draws the rounds from a seed; `kinds` chooses among them
local_round             runs a round in a Spark session that several rounds share
separate_driver_round   runs a round whose driver, executors or hosts are killed
frozen_drivers          runs a round whose driver is frozen
streaming               runs a round of Structured Streaming (`streaming_query`)
judge                   makes the result of a round
account                 reads output and state for the classifier of `conformance.observe.guarantees`
leftovers               finds files, sockets and processes that remain
faulty_store, brokers   an object store and a broker of the Kafka protocol that fail
"""
