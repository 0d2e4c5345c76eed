"""`barrierspec serve`: serves the model or the bundled implementation on stdin and stdout."""

import sys

import click

from conformance.adapters.choose import OURS


@click.command()
@click.argument("what", type=click.Choice(OURS))
def command(what: str) -> None:
    """Answer requests of the adapter protocol on stdin until `bye` or the end of the input."""
    from conformance.adapters.choose import ours
    from conformance.adapters.serve import serve

    serve(ours(what), sys.stdin.buffer, sys.stdout.buffer)
