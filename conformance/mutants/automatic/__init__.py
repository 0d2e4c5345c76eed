"""Automatic mutants.

Each is one edit, by a mutation operator, of a protocol module in one of three layers.
"""
