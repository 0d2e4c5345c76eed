"""The errors of the protocol core.

Every message states what was expected, what came, and what to do. An event that raises one has changed
nothing.
"""


class ProtocolError(Exception):
    """The event is outside the protocol: an unknown kind or channel, an item on an ended channel."""


class ConfigError(Exception):
    """The configuration has an unknown key, or a value outside its range."""


class UnsupportedError(ConfigError):
    """The configuration is part of the protocol, but this implementation does not offer it."""
