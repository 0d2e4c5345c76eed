"""A source that reads topics of the Kafka protocol, and a sink that writes one.

declaration   what a user declares: brokers, topics, where to start and to end
cluster       requests to the brokers: topics, their ids, the offsets that they hold
reader        the consumer of one subtask, and its position in each partition
sink          the sink, at least once

Only `cluster`, `reader` and an open sink import the client, confluent-kafka.
"""
