"""`barrierspec explore`: explores a closed model and checks its properties, in Python or on Spark."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from conformance.command_line.options import FILE, FOLDER, bundled

if TYPE_CHECKING:
    from conformance.explore.local import Explored, Reading
    from conformance.explore.models import Chosen, Size

NAMES = (
    "gate",
    "coordinator",
    "dataflow-twice",
    "dataflow-zombies",
    "dataflow-expiry",
    "dataflow-replaced",
    "dataflow-replay",
    "dataflow-overtaking",
    "dataflow-beside",
)
"""The names of the models of `conformance.explore.models`. That module takes long to import."""
SMALL = click.IntRange(1, 64)


class Effort(NamedTuple):
    """The resources of a search: number of cores, expected number of states, maximum number of states."""

    cores: int
    expected: int
    limit: int


class Cluster(NamedTuple):
    """The settings of a search on Spark: the master, the number of partitions, and the folder."""

    master: str
    partitions: int
    folder: Path


def _sized(*, handler: bool, ends_abort: bool, **options: Any) -> "Size":  # noqa: ANN401 - of click
    from conformance.explore.models import Size

    return Size(polled=not handler, ends_count=not ends_abort, **options)


def _read_as(**options: bool) -> "Reading":
    from conformance.explore.local import Reading

    return Reading(**options)


@click.command()
@click.argument("model", type=click.Choice(NAMES))
@click.option(
    "--engine", type=click.Choice(("python", "compiled", "spark")), default="compiled", show_default=True
)
@bundled(
    "size", _sized,
    click.option("--channels", type=SMALL, default=2, show_default=True, help="The channels of a gate."),
    click.option("--tasks", type=SMALL, default=2, show_default=True, help="A coordinator's tasks."),
    click.option("--ids", type=click.IntRange(1), default=3, show_default=True,
                 help="The highest checkpoint id."),
    click.option("--at-once", type=SMALL, default=1, show_default=True, help="Pending checkpoints at most."),
    click.option("--retain", type=SMALL, default=1, show_default=True, help="Retained checkpoints at most."),
    click.option("--handler", is_flag=True,
                 help="Explore a gate at the level `handler` instead of `polled`."),
    click.option("--ends-abort", is_flag=True, help="Explore a gate without checkpoints after tasks finish."),
    click.option("--injects", is_flag=True, help="Explore a gate with injection."),
    click.option("--profile", default="flink-1.14", show_default=True, help="A gate's generation."),
)  # fmt: skip
@bundled(
    "reading", _read_as,
    click.option("--labelled", is_flag=True,
                 help="Count each state together with its last effects, as TLC does."),
    click.option("--symmetric", is_flag=True,
                 help="Do not distinguish the channels of a gate, or the later tasks of a coordinator."),
    click.option("--every-id", is_flag=True,
                 help="Distinguish the ids of a gate only by their order, so that ids have no bound."),
)  # fmt: skip
@bundled(
    "effort", Effort,
    click.option("--cores", type=click.IntRange(1), default=1, show_default=True, help="Cores."),
    click.option("--expected", type=click.IntRange(0), default=0,
                 help="Reserve memory for this many states."),
    click.option("--limit", type=click.IntRange(1), default=1_000_000_000, show_default=True,
                 help="The maximum number of states."),
)  # fmt: skip
@bundled(
    "cluster", Cluster,
    click.option("--master", default="local[*]", show_default=True, help="The Spark master."),
    click.option("--partitions", type=click.IntRange(1, 100_000), default=8, show_default=True,
                 help="On Spark: the number of partitions. More partitions need less memory each."),
    click.option("--folder", default=Path("build/explore"), show_default=True, type=FOLDER,
                 help="On Spark: the folder of searches. An interrupted search continues."),
)  # fmt: skip
@click.option("--json", "json_file", type=FILE, help="Write a report as JSON.")
def command(
    model: str,
    engine: str,
    size: "Size",
    reading: "Reading",
    effort: Effort,
    cluster: Cluster,
    json_file: Path | None,
) -> int:
    """Visit every reachable state of a closed model, and check every property in each state and step.

    The engine `python` executes the model. The engine `compiled` first compiles the paths of the model into a
    kernel. For a composed dataflow or a large coordinator, it stores the answers of the model in tables
    instead. The engine `spark` runs the kernel with numpy on Spark and keeps the states in files, for models
    that are too large for one machine. All engines find the same states. If a property does not hold, the
    command prints the shortest run and exits with 1.
    """
    import orjson

    from conformance.command_line.progress import Progressing
    from conformance.explore import local
    from conformance.explore.models import KERNEL_IDS, MODELS
    from conformance.explore.stored_search import AnotherSearchError
    from conformance.verdict import Exit
    from model.checker.compiled.renaming import NotInvariantError
    from model.checker.compiled.symmetry import NotSymmetricError
    from model.checker.explore import TooManyStatesError
    from model.gate.profiles import PROFILES

    if size.profile not in PROFILES:
        raise click.UsageError(f"--profile: expected one of {', '.join(PROFILES)}, got {size.profile}")
    chosen = MODELS[model](size)
    if chosen.bounds is None and engine == "spark":
        raise click.UsageError(
            f"{chosen.closed.name} has no kernel, which Spark needs; use --engine compiled or python"
        )
    if chosen.bounds is None and reading.labelled:
        raise click.UsageError(
            f"{chosen.closed.name} has no kernel, which --labelled needs; leave --labelled out"
        )
    if (reading.symmetric or reading.every_id) and (chosen.bounds is None or engine == "python"):
        raise click.UsageError(
            "--symmetric and --every-id need a kernel, which this model or engine does not have; use a gate, "
            f"or a coordinator with --ids {KERNEL_IDS}, and --engine compiled or spark"
        )
    if reading.every_id and not chosen.ids:
        raise click.UsageError(
            f"--every-id does not apply, because the ids of {model} count up; leave --every-id out"
        )
    with Progressing() as watch:
        watch.begins(model)
        watch.show("a kernel takes some time to compile when it is first used")
        try:
            if engine == "python":
                found = local.in_python(chosen, effort.limit)
            elif engine == "spark":
                kept = cluster.folder / _name_of(
                    model, chosen.closed.name, tuple(reading), cluster.partitions
                )
                found = _on_spark(chosen, effort.limit, cluster._replace(folder=kept), reading, watch.show)
            else:
                search = local.memoised if chosen.bounds is None else partial(local.compiled, reading=reading)
                found = search(
                    chosen,
                    effort.limit,
                    cores=effort.cores,
                    expected=effort.expected,
                    progress=lambda states, depth: watch.show(f"{states:,} states, depth {depth}"),
                )
        except TooManyStatesError as error:
            click.echo(f"UNDETERMINED  {error}")
            return Exit.UNDETERMINED
        except (NotSymmetricError, NotInvariantError) as error:
            raise click.UsageError(f"not proved: {error}") from error
        except AnotherSearchError as error:
            raise click.UsageError(f"--folder: {error}") from error
    click.echo(described(found))
    if json_file is not None:
        json_file.write_bytes(
            orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    return Exit.CONFORMS if found.violation is None else Exit.DIVERGES


def _name_of(model: str, *searched: object) -> str:
    """The folder name of a search, which is unique for the model, its size and the options of the search."""
    return f"{model}-{hashlib.sha256(repr(searched).encode()).hexdigest()[:8]}"


def _on_spark(
    chosen: "Chosen", limit: int, cluster: Cluster, reading: "Reading", emit: Callable[[str], None]
) -> "Explored":
    from conformance.explore.search_on_spark import on_spark
    from impl.spark.errors import SparkRuntimeError
    from impl.spark.session import spark_session

    packages = ("impl", "model", "conformance")
    try:
        with spark_session(cluster.master, cluster.folder / "spark.log", "explore", packages) as spark:
            return on_spark(
                chosen,
                limit,
                spark,
                cluster.folder,
                partitions=cluster.partitions,
                reading=reading,
                progress=lambda known, new, depth: emit(
                    f"{known:,} states, {new:,} of them at depth {depth}"
                ),
            )
    except SparkRuntimeError as refused:
        raise click.ClickException(str(refused)) from refused


def _answers(found: "Explored") -> list[str]:
    """The line with the number and the time of the model's answers; empty for a search without a table."""
    if not found.answers:
        return []
    both = found.states / (found.search_seconds + found.model_seconds)
    return [
        f"  within it, the model gave {found.answers:,} answers in {found.model_seconds:.1f} s more; "
        f"with these, {both:,.0f} distinct states a second"
    ]


def described(found: "Explored") -> str:
    """The text that the command prints for a search."""
    labelled = f"{found.labelled:,} with the last effects, " if found.labelled else ""
    properties = f"{found.properties} properties, {len(found.interpreted)} of them in Python"
    lines = [
        found.model,
        f"  {found.states:,} states, {labelled}{found.transitions:,} transitions, depth {found.depth}",
        f"  {properties}; {len(found.rules)} rules fired",
        f"  {found.engine}: searched {found.search_seconds:.2f} s; "
        f"before that, read {found.follow_seconds:.1f} s, compiled or loaded {found.compile_seconds:.1f} s",
        *_answers(found),
        f"  {found.rate:,.0f} distinct states a second"
        + (f", {found.bytes / max(found.states, found.labelled):.1f} bytes a state" if found.bytes else ""),
    ]
    if found.violation is not None:
        broken = ", ".join(found.violation.rules)
        lines.append(f"DIVERGES  {broken} broken after {len(found.violation.run)} events")
        lines += [f"  {number:>3} {event}" for number, event in enumerate(found.violation.run, start=1)]
    return "\n".join(lines)
