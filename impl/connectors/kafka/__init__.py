"""A source that reads topics of the Kafka protocol, and a sink that writes one topic.

declaration   the declaration of a source by a user: brokers, topics, start and end
cluster       requests to the brokers: topics, their ids, and the offsets of their records
reader        the consumer of one subtask, and its position in each partition
sink          the sink, at least once

Only `cluster`, `reader` and an open sink import the client, confluent-kafka.
"""
