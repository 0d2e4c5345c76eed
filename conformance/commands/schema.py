"""`barrierspec schema`: the JSON Schemas of the adapter protocol."""

import click
import orjson


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print one JSON Schema of the adapter protocol, or the names of all."""
    from conformance.adapters.validation import NAMES, schema

    if name is None:
        click.echo("\n".join(NAMES))
        return 0
    try:
        found = schema(name)
    except KeyError as unknown:
        raise click.UsageError(str(unknown.args[0])) from unknown
    click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    return 0
