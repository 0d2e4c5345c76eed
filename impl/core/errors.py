"""What a component of the core says when it cannot do what it was asked.

Every message tells what was expected, what came, and what to do. An event that raises changes nothing:
each step checks before it touches its state.
"""


class ProtocolError(Exception):
    """An event outside the protocol: an unknown kind or channel, a message on an ended channel, ..."""


class ConfigError(Exception):
    """A configuration that means nothing: a key that does not exist, a value out of its range."""


class UnsupportedError(ConfigError):
    """A configuration that the protocol knows and this implementation does not offer."""
