"""Writes findings in machine-readable formats: JSON, JUnit XML, SARIF, annotations."""
