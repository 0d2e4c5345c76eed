"""The conformance suite: compares implementations with the model, validates recorded runs, and reports."""
