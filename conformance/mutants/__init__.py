"""Mutants: one defect each in specification, model or implementation, which the rule it breaks must find."""
