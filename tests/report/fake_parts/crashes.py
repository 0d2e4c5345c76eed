"""A part that raises an exception."""

from conformance.parts.result import Context, PartResult


def run(context: Context) -> PartResult:
    raise OSError("expected a port, got none\nsecond line")
