"""Mutants of specification, model and implementation. Each has one defect, which its rule must detect."""
