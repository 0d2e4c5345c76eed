"""Measurements of the exploration engines beside other model checkers."""
