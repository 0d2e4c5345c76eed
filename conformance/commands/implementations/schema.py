"""`barrierspec schema`: the JSON Schemas of the adapter protocol and of the reports."""

import click
import orjson


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print a JSON Schema of the adapter protocol or of a report.

    NAME is the name of the schema. Without NAME, print the names of all schemas.
    """
    from conformance.adapters.validation import NAMES, schema
    from conformance.report.formats import documents

    known = (*NAMES, *documents.NAMES)
    if name is None:
        click.echo("\n".join(known))
        return 0
    if name not in known:
        raise click.UsageError(f"no schema has the name {name!r}; expected one of: {', '.join(known)}")
    found = documents.schema(name) if name in documents.NAMES else schema(name)
    click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    return 0
