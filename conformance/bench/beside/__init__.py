"""Our runtime compared with Flink and Structured Streaming: same rows, same result, in turn.

`comparison` measures. `contestants` lists what is compared, with the ratios and their targets. `turns` keeps
what was measured, so that an interrupted measurement continues. `processes` starts Flink and PyFlink with the
settings of `settings.toml`; `java/` and `pyflink_words.py` are their jobs. `rows` writes the rows for Flink
and reads its output. `latency` measures how long a record takes until it is in committed output, from the
rows of ours that `paced` reads at a rate.
"""
