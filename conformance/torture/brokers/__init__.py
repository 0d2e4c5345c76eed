"""A broker of the Kafka protocol for tests and campaigns.

broker          the process
proxy           a proxy that disconnects its clients
faulty_broker   both, with faults drawn from a seed while a job reads
"""
