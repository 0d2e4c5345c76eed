"""Our runtime compared with Flink and Structured Streaming: same rows, same result, in turn.

`comparison` measures. `contestants` lists what is compared, with the ratios and their targets. `turns` stores
the samples, so that an interrupted measurement continues. `processes` starts Flink and PyFlink with the
settings of `settings.toml`; `java/` and `pyflink_words.py` are their jobs. `rows` writes the rows for Flink
and reads its output. `latency` measures the time from a record's timestamp until it is in committed output;
our job reads its rows from `paced_source`, at a fixed rate.
"""
