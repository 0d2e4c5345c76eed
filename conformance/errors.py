"""The base of errors that the user of a command can repair."""


class InputError(ValueError):
    """A file, name or option that a command was given cannot be used; the message says what to do.

    The command line prints the message, and ends with 64.
    """
