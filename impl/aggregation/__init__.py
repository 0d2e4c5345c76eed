"""Aggregates by key: of Arrow columns (`arrow_aggregates`), and of rows (`rows`). `sums` makes sums exact."""
