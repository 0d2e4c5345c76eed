"""Mutants of specification, model and implementation: each has one defect, which its rule must detect."""
