"""Commands that run, inspect and measure jobs on Spark."""
