"""Measurements of the exploration engines compared with other model checkers."""
