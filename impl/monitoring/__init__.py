"""The monitoring of a running job: checkpoint statistics, a REST interface with Flink's names, a web page."""
