"""Chooses the TLA+ module that describes a gate, by its mode, generation and level.

At level `polled` the items of a held channel wait (module PolledGate). If no item has waited in a run, the
module of the gate alone is enough, and TLC checks its rules. If an item has waited, one step of PolledGate
covers several events of the gate. Then TLC checks only the effects, not the rules.
"""

from collections.abc import Sequence

from conformance.components.gate.aligned import (
    CALLS,
    IS_CALL,
    Steps,
    aligned_steps,
    bind_aligned,
    bind_storing,
    bind_tracker,
)
from conformance.components.gate.unaligned import (
    bind_first_decides,
    bind_threads,
    bind_unaligned,
    first_decides_steps,
    unaligned_steps,
)
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import Binding
from conformance.vectors.tla.text import NotInTlaError
from model.gate.profiles import NEWEST, PROFILES

_AFTER_EFFECTS = "AfterEffects(before, effects)"


def bind_gate(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of a gate in its mode, generation and level. Raises NotInTlaError."""
    config = divergence.config
    profile = PROFILES[config.get("profile", NEWEST.name)]
    mode = config.get("mode", "exactly-once")
    polled = config.get("level", "polled") == "polled"
    if mode == "at-least-once":
        return _only(bind_tracker(divergence, profile), polled)
    if mode == "exactly-once":
        if polled and profile.stores_blocked:
            return bind_storing(divergence, profile)
        binding, steps, holds = bind_aligned(divergence, profile), aligned_steps("g"), "g.blocked"
    elif profile.network_starts and mode == "unaligned":
        return _only(bind_threads(divergence, profile), polled)
    elif profile.first_decides:
        binding, steps, holds = (
            bind_first_decides(divergence, profile),
            first_decides_steps("g"),
            _AFTER_EFFECTS,
        )
    elif profile.ends_count:
        binding, steps, holds = bind_unaligned(divergence, profile), unaligned_steps("g"), _AFTER_EFFECTS
    else:
        raise NotInTlaError(
            f"gates of mode {mode} stand in TLA+ as they are in flink-1.11, flink-1.12 and from 1.14 on; in "
            f"{profile.name} savepoints overtake and a time-out counts from the first barrier, which no "
            "module describes"
        )
    binding = _only(
        binding,
        polled,
        *(() if profile.ends_count else ("inject",)),
        *(() if profile.has_announcements else ("announce",)),
    )
    return _behind_network(binding, steps, holds) if polled and _has_waited(edges) else binding


def _only(binding: Binding, polled: bool, *unknown: str) -> Binding:
    """The binding without the events that this level (`polled`) or generation (`unknown`) does not have."""
    gone = (*unknown, *(() if polled else ("record",)))
    return binding._replace(steps={kind: step for kind, step in binding.steps.items() if kind not in gone})


def _has_waited(edges: Sequence[Edge]) -> bool:
    """Whether an item has waited: a step without effects, in which only ALIGN-17 or only UNAL-24 fired."""
    return any(edge.rules in (("ALIGN-17",), ("UNAL-24",)) and not edge.effects for edge in edges)


def _behind_network(binding: Binding, steps: Steps, holds: str) -> Binding:
    """The binding of a gate behind a network that keeps the items of held channels.

    `steps`: TLA+ expressions for the steps of a gate named `g`. `holds`: an expression in `g`, `before` and
    `effects` for the channels that are held after a step.
    """
    inner = "\n      [] ".join(f'event[1] = "{kind}" -> {steps[kind]}' for kind in binding.steps)
    arrives = "Arrives(AtGate, Holds, gate, waiting, held, event)"
    called = "ReadReleased(AtGate, Holds, AtGate(gate, event), waiting, held)"
    return binding._replace(
        steps={kind: called if kind in CALLS else arrives for kind in binding.steps},
        rules=(),
        guard=f"({binding.guard}) /\\ ({IS_CALL} \\/ ~HasEnded(waiting, event[2]))",
        extra_variables={"waiting": "<<>>", "held": "{}"},
        prelude=f"""{binding.prelude}
AtGate(g, event) ==
    CASE {inner}

Holds(g, before, effects) == {holds}
""",
        extends="PolledGate",
    )
