"""Package spec."""
