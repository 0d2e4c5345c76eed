"""The guarantee that a run has kept, and the anomalies that refute others."""
