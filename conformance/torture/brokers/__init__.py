"""A broker of the Kafka protocol for tests and campaigns, and a proxy that disconnects its clients."""
