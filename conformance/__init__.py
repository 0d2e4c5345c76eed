"""The conformance suite: drives implementations beside the model, compares, observes and reports."""
