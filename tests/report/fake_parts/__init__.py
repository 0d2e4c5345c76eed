"""Fake parts of a verification, one for each way in which a part can end."""
