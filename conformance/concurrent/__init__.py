"""Sends several events at once, and searches for an order in which the model gives the same answer."""
