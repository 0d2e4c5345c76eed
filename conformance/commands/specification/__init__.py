"""Commands about the specification and the model."""
