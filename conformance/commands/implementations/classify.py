"""`barrierspec classify`: the strongest guarantee that a run does not refute, and the anomalies it shows."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.commands import limit, seed

if TYPE_CHECKING:
    from conformance.observe.guarantees.anomalies import Guarantee
    from conformance.verdict import Verdict

MODES = ("exactly-once", "at-least-once")
FAILED = "through a failure"
KILLED = "through a failure that kills the process; its output is read"
REPORTED = (
    "The command saw only what the adapter reported. A crash was an event; the process itself did not end. "
    "So the durability of pre-committed transactions was not tested."
)
READ = (
    "The command killed the process of the sink and read its output. Of a gate it saw only what the adapter "
    "reported."
)
RECORDED = (
    "The command saw only the account. An account does not record which process was restarted. So the "
    "durability of pre-committed transactions was not tested."
)
KEPT = ("exactly-once", "at-least-once", "at-most-once")


@click.command()
@click.argument("recorded", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--adapter",
    metavar="CMD",
    help="The implementation whose gate and sink run: a command, `model` or `impl`.",
)
@click.option(
    "--mode", default=MODES[0], show_default=True, type=click.Choice(MODES), help="The mode of the gate."
)
@click.option("--keeps", type=click.Choice(KEPT), help="The guarantee to check. By default that of the mode.")
@seed("when the driven job fails")
@limit
def command(
    recorded: Path | None, adapter: str | None, mode: str, keeps: str | None, seed: int, limit: float
) -> int:
    """Name the strongest guarantee that a run does not refute, and each anomaly with its first evidence.

    RECORDED is the account of a run that has ended, as JSON. With --adapter, the command instead runs the
    adapter's gate, at the polled level, and its sink in a job with failures and restores. The other parts of
    this job are correct. If the sink offers `restart`, a failure kills its process, and the command reads its
    output. Otherwise the command does not test durability over a restart. Exits with 1 if the run refutes the
    guarantee to check.
    """
    from conformance.observe.guarantees.anomalies import Guarantee
    from conformance.observe.guarantees.guarantee import classify
    from conformance.observe.guarantees.recorded_run import account_in
    from conformance.report.formats.columns import deeper, wrapped
    from conformance.verdict import Verdict, together

    if (recorded is None) == (adapter is None):
        raise click.UsageError("give either RECORDED, the account of a run, or --adapter CMD")
    guarantee = Guarantee(keeps or mode)
    seen = RECORDED
    if recorded is not None:
        found = classify(account_in(recorded))
        click.echo(deeper(found.describe()))
        verdicts = [Verdict.DIVERGES if found.refutes(guarantee) else Verdict.CONFORMS]
        scope = "this run"
    else:
        assert adapter is not None
        driven = [*_driven(adapter, mode, guarantee, seed, limit)]
        verdicts, seen = [one for one, _ in driven], READ if any(read for _, read in driven) else REPORTED
        scope = "these runs"
    verdict = together(verdicts)
    closing = {
        Verdict.CONFORMS: f"{guarantee.value} is not refuted by {scope}; no run proves it",
        Verdict.DIVERGES: f"{guarantee.value} is refuted",
    }
    click.echo(f"\n{verdict.value}   {closing.get(verdict, 'see above')}")
    click.echo(wrapped(f"  {seen}", 2))
    return verdict.exit_code


def _driven(
    adapter: str, mode: str, guarantee: "Guarantee", seed: int, limit: float
) -> "Iterator[tuple[Verdict, bool]]":
    """The verdict of each component, and whether the command killed its process and read its output."""
    from conformance.adapters.choose import open_adapter
    from conformance.adapters.hello_names import require_known_names
    from conformance.adapters.protocol import RESTART, Hello, Killable
    from conformance.observe.guarantees import driven
    from conformance.report.formats.columns import deeper
    from conformance.verdict import Verdict

    implementation = open_adapter(adapter, limit)
    try:
        hello = implementation.hello()
        if not isinstance(hello, Hello):
            click.echo(hello.describe())
            yield Verdict.UNDETERMINED, False
            return
        require_known_names(hello)
        gate = {"channels": 2, "mode": mode, "level": "polled"}
        for component, offer in hello.components.items():
            if component not in ("gate", "sink"):
                continue
            kills = component == "sink" and RESTART in offer.capabilities
            kills = kills and isinstance(implementation, Killable)
            click.echo(f"{component}, driven {driven.SCHEDULES} times {KILLED if kills else FAILED}:")
            try:
                if component == "gate":
                    found = driven.worst_of_gate(implementation, gate, seed)
                elif kills and isinstance(implementation, Killable):
                    found = driven.worst_of_durable_sink(implementation, {}, seed)
                else:
                    found = driven.worst_of_sink(implementation, {}, seed)
            except driven.UndrivenError as why:
                click.echo(deeper(f"  {why}"))
                yield Verdict.UNDETERMINED, kills
            else:
                click.echo(deeper(textwrap.indent(found.describe(), "  ")))
                yield Verdict.DIVERGES if found.refutes(guarantee) else Verdict.CONFORMS, kills
    finally:
        implementation.bye()
