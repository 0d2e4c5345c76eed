"""Which guarantee did a run keep? Anomalies by name."""
