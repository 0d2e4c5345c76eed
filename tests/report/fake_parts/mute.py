"""A part that returns no result."""


def run(context):
    return None
