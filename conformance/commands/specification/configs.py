"""`barrierspec configs`: writes the configuration files of the models, for TLC and other tools."""

from pathlib import Path

import click


@click.command()
@click.argument("names", nargs=-1, metavar="[MODEL]...")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="The folder of the files.")  # fmt: skip
def command(names: tuple[str, ...], out: Path) -> int:
    """Write the configuration file `MODEL.cfg` of each MODEL, by default of all models.

    TLC, the TLA+ Toolbox and editors read such a file in the folder of the model's module.
    """
    from conformance.verdict import Exit
    from spec.manifest import load_manifest
    from spec.modules import module_path

    models = load_manifest()
    unknown = [name for name in names if name not in models]
    if unknown:
        raise click.UsageError(
            f"expected models of spec/manifests, got {', '.join(unknown)}; leave the names out to write all"
        )
    out.mkdir(parents=True, exist_ok=True)
    for name in names or models:
        model = models[name]
        (out / f"{name}.cfg").write_text(model.configuration_text(), encoding="utf-8")
        click.echo(f"  {out / name}.cfg   {module_path(model.module)}")
    return Exit.CONFORMS
