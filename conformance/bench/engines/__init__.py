"""Measurements that compare our exploration engines with other model checkers."""
