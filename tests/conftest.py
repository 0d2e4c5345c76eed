"""Settings of all tests: runs repeat exactly, and nothing is judged by the clock."""

from hypothesis import settings

settings.register_profile("barrierspec", deadline=None, derandomize=True)
settings.load_profile("barrierspec")
