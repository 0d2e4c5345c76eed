"""Compares our runtime with Flink and Structured Streaming. They take turns on the same rows.

`comparison` measures. `contestants` lists the compared jobs, the ratios and their targets. `turns` stores the
samples, so that an interrupted measurement can continue. `processes` starts Flink and PyFlink with the
settings of `settings.toml`; `java/` and `pyflink_words.py` are their jobs. `rows` writes the rows for Flink
and reads its output. `latency` measures the time from when a record is due until it is in committed output.
For that our job reads its rows from `paced_source`, at a fixed rate.
"""
