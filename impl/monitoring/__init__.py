"""A running job's checkpoint statistics, REST interface (Flink's names), and web page, which reads it."""
