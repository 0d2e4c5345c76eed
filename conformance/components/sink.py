"""The transactional sink in the suite: its configurations and random events, and its binding to TLA+."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Node, Projection, of_step, plain_effect, plain_event
from conformance.components.component import Component
from conformance.components.tla_records import IDS, OR_ZERO, Record, each, fields, pairs
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import STRAY, Chooser
from conformance.suites.components import sink_alphabets
from conformance.vectors.tla.binding import Binding, highest, rules_of
from conformance.vectors.tla.text import Raw, Word, plain, steps
from model.components import COMPONENTS
from model.events import NONE
from model.sink.environment import CompleteCheckpoint, Surrounded, closed_surrounded
from model.sink.two_phase_commit import NEWEST_SINK, SINK_PROFILES, PreCommitted, SinkSnapshot
from spec.values import State

SINK = Record(
    *fields("running", "finished", next="next_transaction"),
    *fields("open", of=OR_ZERO),
    *fields("pending", of=each(lambda filed: PreCommitted(*filed))),
    *fields("committed", of=IDS),
)


def _event(event: Wire, edge: Edge) -> Word:
    """An event in the form of TLA+, where an event with a failing commit has a separate name."""
    if any(effect["kind"] == "commit_failed" for effect in edge.effects):
        return (f"{event['kind']}_failing", event["checkpoint"], event["fails"])
    return plain("sink", {name: content for name, content in event.items() if name != "fails"})


def snapshot_of(checkpoint: int, held: Mapping[str, Any]) -> SinkSnapshot:
    """The snapshot of a checkpoint. `held`: the open and pending transactions of the sink, in TLA+ form."""
    return SinkSnapshot(
        checkpoint, held["open"] or NONE, tuple(PreCommitted(*filed) for filed in held["pending"])
    )


def _closed_event(event: Wire) -> Word:
    """An event of the closed sink in the form of TLA+, where an event with a failing commit has another name.

    A restore without a checkpoint has the id 0.
    """
    failing = (event["fails"],) if "fails" in event else ()
    if not failing and event["kind"] != "restore":
        return plain("sink", event, int)
    return (event["kind"] + ("_failing" if failing else ""), event["checkpoint"] or 0, *failing)


def project_sink(given: Given) -> Projection:
    """Pairs SinkModel.tla with the closed model of the sink."""
    profile = SINK_PROFILES["1.9" if "WaitsAtTheEnd" in given.replaced else NEWEST_SINK.name]
    closed = closed_surrounded(given.number("M"), given.number("MaxCrashes"), profile)
    on_wire = COMPONENTS["sink"]
    event = plain_event(on_wire, _closed_event)

    def node(state: State) -> Node:
        snapshots = tuple(snapshot_of(checkpoint, held) for checkpoint, held in pairs(state["snapshots"]))
        sink = SINK.read(state["sink"], closed.state.sink)._replace(snapshots=snapshots)
        withdrawn = tuple(sorted(state["withdrawn"]))
        return Surrounded(sink, state["completed"], state["crashes"], withdrawn), (), state["out"]

    return Projection(
        closed,
        node,
        of_step(
            lambda taken: ("complete",) if type(taken) is CompleteCheckpoint else event(taken),
            plain_effect(on_wire),
        ),
    )


def bind_sink(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of a sink that commits in two phases, with its snapshots.

    SINK-08 is not checked. It states that no transaction is both committed and aborted, and holds if the
    coordinator restores the newest checkpoint; a recorded run may restore any snapshot.
    """
    restored = "IF event[2] = -1 THEN NothingHeld ELSE snapshots[event[2]]"
    waits = divergence.config.get("profile", "1.14") == "1.14"
    return Binding(
        "sink",
        module="SinkModel",
        state="sink",
        constants={
            "M": highest(divergence.events, "checkpoint"),
            "MaxCrashes": len(divergence.events),
            **({} if waits else {"WaitsAtTheEnd": Raw("Never")}),
        },
        steps=steps(
            "sink",
            "sink",
            close="OnSinkClose(sink)",
            notify_complete_failing="OnNotifyCompleteFailing(sink, event[2], event[3])",
            restore=f"OnRestore(sink, {restored})",
            restore_failing=f"OnRestoreFailing(sink, {restored}, event[3])",
        ),
        fields=SINK.shows("sink"),
        rules=rules_of("sink", "SINK_08"),
        guard="""
    CASE event[1] \\in {"restore", "restore_failing"} ->
            ~sink.running /\\ (event[2] = -1 \\/ event[2] \\in DOMAIN snapshots)
      [] event[1] = "write" -> sink.running /\\ ~sink.finished
      [] event[1] = "snapshot" -> sink.running /\\ \\A n \\in DOMAIN snapshots : event[2] > n
      [] OTHER -> sink.running""",
        environment="""LET event == Recorded[replayed + 1] IN
       snapshots' = CASE event[1] = "snapshot" ->
                            [n \\in DOMAIN snapshots \\cup {event[2]} |->
                                IF n = event[2] THEN Held(sink') ELSE snapshots[n]]
                      [] event[1] = "restore" ->
                            [n \\in {n \\in DOMAIN snapshots : n <= event[2]} |-> snapshots[n]]
                      [] OTHER -> snapshots
    /\\ withdrawn' = withdrawn \\cup Aborted(Tail(out'))
    /\\ UNCHANGED <<completed, crashes>>""",
        event=_event,
    )


# ---------------------------------------------------------------- random events

CONFIGS: list[Wire] = [{"profile": "1.14"}, {"profile": "1.9"}]
"""The configurations of walks."""


def walk_sink(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws writes, snapshots, notifications, crashes and restores."""
    draw = rng.random
    snapshots: list[int] = []
    taken_in_run = 0
    finished = False

    def choose(observed: Wire) -> Wire:
        nonlocal finished, snapshots, taken_in_run
        newest = snapshots[-1] if snapshots else 0
        luck = draw()
        if luck < STRAY:
            return _stray_at_sink(draw(), newest, taken_in_run)
        if not observed["running"]:
            taken_in_run = 0
            finished = False
            if not snapshots or draw() < 0.15:
                snapshots = []
                return {"kind": "restore", "checkpoint": None}
            chosen = snapshots[int(draw() ** 0.5 * len(snapshots))]
            if draw() < 0.1:
                failing = 1 + int(draw() * (2 + len(snapshots)))
                return {"kind": "restore", "checkpoint": chosen, "fails": failing}
            snapshots = [taken for taken in snapshots if taken <= chosen]
            return {"kind": "restore", "checkpoint": chosen}
        luck = draw()
        if luck < (0.03 if finished else 0.3):  # an error after the sink has finished
            return {"kind": "write", "value": int(draw() * 10)}
        if luck < 0.6:
            taken_in_run = newest + 1 + int(draw() * 2)
            snapshots.append(taken_in_run)
            return {"kind": "snapshot", "checkpoint": snapshots[-1]}
        if luck < 0.8:
            notified = {"kind": "notify_complete", "checkpoint": max(0, newest + int(draw() * 5) - 3)}
            pending = observed["pending"]
            if pending and draw() < 0.1:
                return {**notified, "fails": pending[int(draw() * len(pending))][1]}
            return notified
        if luck < 0.87:
            return {"kind": "notify_abort", "checkpoint": max(0, newest - int(draw() * 3))}
        if luck < 0.97:
            return {"kind": "crash" if draw() < 0.6 else "close"}
        finished = True
        return {"kind": "finish"}

    return choose


def _stray_at_sink(luck: float, newest: int, taken_in_run: int) -> Wire:
    if luck < 0.4 and taken_in_run:
        return {"kind": "snapshot", "checkpoint": taken_in_run}
    if luck < 0.8:
        return {"kind": "restore", "checkpoint": newest + 100}
    return {"kind": "no_such_event"}


COMPONENT = Component(
    alphabets=sink_alphabets,
    configs=CONFIGS,
    walks=500,
    walk=walk_sink,
    projections={"SinkModel": project_sink},
    bind=bind_sink,
)
