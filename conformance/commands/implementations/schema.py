"""`barrierspec schema`: the JSON Schemas of the adapter protocol and of the reports."""

import click
import orjson


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print one JSON Schema, of the adapter protocol or of a report, or the names of all."""
    from conformance.adapters.validation import NAMES, schema
    from conformance.report import mutation_score, verification
    from conformance.report.formats import findings, sarif

    reports = {
        "findings": findings.schema,
        "mutants": mutation_score.schema,
        "sarif": sarif.schema,
        "verification": verification.schema,
    }
    if name is None:
        click.echo("\n".join([*NAMES, *reports]))
        return 0
    if name not in (*NAMES, *reports):
        known = ", ".join((*NAMES, *reports))
        raise click.UsageError(f"no schema is called {name!r}; expected one of: {known}")
    found = reports[name]() if name in reports else schema(name)
    click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    return 0
