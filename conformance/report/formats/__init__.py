"""Findings for machines: JSON, JUnit XML, SARIF, annotations."""
