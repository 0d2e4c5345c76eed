"""`barrierspec learn`: infers the finite machine of an implementation, and compares it with the model's."""

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.command_line.options import FOLDER, SECONDS, pinned
from conformance.commands import limit

if TYPE_CHECKING:
    from conformance.learn.learn_and_compare import Outcome

SHOWN = 10
"""The maximum number of differences that the command prints."""


@click.command()
@click.option(
    "--adapter", required=True, metavar="CMD", help="The implementation: a command, or `model` or `impl`."
)
@click.option("--component", default="gate", show_default=True, help="The component to learn.")
@click.option("--config", "options", multiple=True, metavar="KEY=VALUE", help="A configuration value.")
@click.option("--extra", default=1, show_default=True, type=click.IntRange(0, 3),
              help="The result holds if the implementation has at most this number of extra "
                   "states.")  # fmt: skip
@click.option("--seconds", type=SECONDS, help="The time budget in seconds. Without it there is no limit.")
@click.option("--tlc/--no-tlc", default=True, help="Check the rules on the learned machine with TLC.")
@click.option(
    "--out", default=Path("build/learned"), show_default=True, type=FOLDER, help="The folder of the files."
)
@limit
def command(  # noqa: PLR0913 - a click command
    adapter: str,
    component: str,
    options: tuple[str, ...],
    extra: int,
    seconds: float | None,
    tlc: bool,
    out: Path,
    limit: float,
) -> int:
    """Infer a finite machine from an implementation's answers, and show where it differs from the model.

    Writes the machine as a picture and as JSON. For a gate of mode exactly-once at the level `handler`, also
    writes the machine as a TLA+ module, on which TLC checks the rules. Exits with 1 if the machine differs
    from the model's, and with 2 if no machine could be learned.
    """
    from conformance.adapters.choose import open_adapter
    from conformance.adapters.hello_names import require_known_names
    from conformance.adapters.protocol import Hello
    from conformance.drive.saved import name_of
    from conformance.learn.learn_and_compare import Order, chosen, learned
    from conformance.learn.system import NotLearnedError
    from conformance.report.divergence.phrases import of_config
    from conformance.verdict import Exit

    ends = None if seconds is None else time.monotonic() + seconds
    may_go_on = lambda: ends is None or time.monotonic() < ends  # noqa: E731 - as in conform
    order = Order(component, pinned(options), extra, out, tlc, may_go_on)
    opened = open_adapter(adapter, limit)
    try:
        hello = opened.hello()
        if not isinstance(hello, Hello):
            click.echo(f"UNDETERMINED  no answer to hello: {hello.describe()}")
            return Exit.UNDETERMINED
        require_known_names(hello)
        alphabet = chosen(hello, order)
        subject = f"; {alphabet.subject}" if alphabet.subject else ""
        bound = f"; {alphabet.bound}" if alphabet.bound else ""
        where = of_config(component, alphabet.config)
        click.echo(f"barrierspec learn   {name_of(hello)}\n\n  subject   {where}{subject}{bound}")
        try:
            outcome = learned(opened, alphabet, name_of(hello), order)
        except NotLearnedError as why:
            click.echo(f"\nUNDETERMINED   {why}")
            return Exit.UNDETERMINED
    finally:
        opened.bye()
    click.echo("\n".join(_lines(outcome, extra)))
    if not outcome.differences:
        click.echo("\nCONFORMS   the learned machine is the model's")
        return Exit.CONFORMS
    click.echo("\nDIVERGES")
    click.echo(f"  next    barrierspec conform --adapter {shlex.quote(adapter)} --component {component}")
    return Exit.DIVERGES


def _lines(outcome: "Outcome", extra: int) -> list[str]:
    from conformance.learn.compare import described
    from conformance.report.formats.columns import wrapped

    found = outcome.learned
    lines = [
        f"  learned   {found.machine.size} states, {len(found.machine.letters)} letters; {found.words:,} "
        f"words, {found.events:,} events",
        f"  model     {outcome.model.size} states",
        wrapped(
            f"  holds     if the implementation has at most {found.machine.size + extra} states over these "
            "letters",
            indent=12,
        ),
    ]
    if outcome.differences:
        number = len(outcome.differences)
        lines += [f"  differs   {number} time{'s' * (number > 1)}, each by a shortest sequence", ""]
        lines += [*described(outcome.differences, SHOWN), ""]
    rules = outcome.rules
    if isinstance(rules, str):
        lines.append(wrapped(f"  rules     not checked by TLC: {rules}", indent=12))
    else:
        broken = f"{', '.join(rules.broken)} broken" if rules.broken else "none broken"
        unchecked = f"; not evaluated: {', '.join(rules.unchecked)}" if rules.unchecked else ""
        lines.append(wrapped(f"  rules     TLC: {broken}, {len(rules.kept)} hold{unchecked}", indent=12))
    return [*lines, *(f"  file      {file}" for file in outcome.files)]
