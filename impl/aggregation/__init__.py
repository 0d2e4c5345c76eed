"""Aggregates by key over Arrow columns (`arrow_aggregates`) and over rows (`rows`); exact sums (`sums`)."""
