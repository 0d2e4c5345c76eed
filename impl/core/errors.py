"""The errors of the protocol core.

Every message states the expected value, the given value, and what to do. An event that raises an error does
not change the component.
"""


class ProtocolError(Exception):
    """The event is outside the protocol: an unknown kind or channel, an item on an ended channel."""


class ConfigError(Exception):
    """The configuration has an unknown key, or a value outside its range."""


class UnsupportedError(ConfigError):
    """The configuration is part of the protocol, but this implementation does not offer it."""
