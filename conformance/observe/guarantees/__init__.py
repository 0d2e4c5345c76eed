"""Classifies a run by the guarantee that it has kept. Anomalies of the run refute stronger guarantees."""
