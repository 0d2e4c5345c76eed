"""Checks that a plan can run. The checks come before the start of Spark."""

import re
from collections import Counter

from impl.config import ConfigError
from impl.functions import require_hooks
from impl.graph.plan import Edge, Partitioning, Plan, Role, Stage
from impl.state.backends.key_groups import LARGEST_MAX_PARALLELISM

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def require_runnable(plan: Plan) -> None:
    """Raise ConfigError unless all stages and edges are valid, and each stage is between source and sink."""
    if not 1 <= plan.max_parallelism <= LARGEST_MAX_PARALLELISM:
        raise ConfigError(f"max_parallelism takes 1 to {LARGEST_MAX_PARALLELISM}, not {plan.max_parallelism}")
    for stage in plan.stages:
        require_stage(stage, plan.max_parallelism)
    names = [name for one in plan.stages for name in (one.name, *(link.name for link in one.chained))]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ConfigError(
            f"expected a different name for each stage, {', '.join(twice)} is used twice; rename one"
        )
    stages = {stage.name: stage for stage in plan.stages}
    for edge in plan.links:
        _require_edge(edge, stages)
    for stage in plan.stages:
        if stage.role is Role.PROCESS:
            _require_timers(stage.name, stage.logic, keyed=bool(plan.key_selectors(stage)))
            for name, function, key_selector in stage.chained:
                _require_timers(name, function, keyed=key_selector is not None)
    _require_connected(plan, stages)


def require_stage(stage: Stage, max_parallelism: int) -> None:
    """Raise ConfigError unless the stage is valid: its name, parallelism, splits and function."""
    if not _NAME.fullmatch(stage.name):
        raise ConfigError(f"the name of a stage has only letters, digits and _, got {stage.name!r}")
    if stage.parallelism < 1:
        raise ConfigError(f"{stage.name!r} takes a parallelism of at least 1, not {stage.parallelism}")
    if stage.parallelism > max_parallelism:
        raise ConfigError(
            f"{stage.name!r} has parallelism {stage.parallelism}, and max_parallelism is {max_parallelism}; "
            "lower the parallelism, or raise max_parallelism in a job that has no checkpoints yet"
        )
    if stage.role is Role.PROCESS:
        for function in (stage.logic, *(link.function for link in stage.chained)):
            require_hooks(function)
    if stage.splits is not None and (stage.role is not Role.SOURCE or stage.splits < 1):
        raise ConfigError(
            f"only a source has splits, and takes at least 1 split; {stage.name!r} has {stage.splits}"
        )


def _require_edge(edge: Edge, stages: dict[str, Stage]) -> None:
    for end in (edge.upstream, edge.downstream):
        if end not in stages:
            raise ConfigError(f"{edge.upstream!r} sends to {edge.downstream!r}; there is no stage {end!r}")
    above, below = stages[edge.upstream], stages[edge.downstream]
    if above.role is Role.SINK or below.role is Role.SOURCE:
        raise ConfigError(
            f"{below.name!r}, a {below.role.value}, cannot follow {above.name!r}, a {above.role.value}"
        )
    if edge.partitioning is Partitioning.FORWARD and above.parallelism != below.parallelism:
        raise ConfigError(
            f"forward takes the same parallelism at both ends: {above.name!r} has {above.parallelism}, "
            f"{below.name!r} has {below.parallelism}; use rebalance"
        )
    if (edge.partitioning is Partitioning.HASH) != (edge.key_selector is not None):
        raise ConfigError(
            "only hash partitioning takes a key selector, and it needs one; correct the edge from "
            f"{above.name!r} to {below.name!r}"
        )
    if edge.input not in (0, 1) or (edge.input == 1 and below.role is not Role.PROCESS):
        raise ConfigError(
            f"{below.name!r} has no input {edge.input}; a process stage has 0 and 1, a sink has 0"
        )


def _require_timers(name: str, function: object, *, keyed: bool) -> None:
    """Raise ConfigError for timers on a stream without keys, or without the method `on_timer`."""
    has_timers, takes_them = (hasattr(function, hook) for hook in ("on_timer", "open_timers"))
    if takes_them and not has_timers:
        raise ConfigError(f"{name!r} has open_timers; it needs on_timer(key, timestamp), too")
    if has_timers and not keyed:
        raise ConfigError(f"{name!r} has timers, which belong to keys; put key_by before it")


def _require_connected(plan: Plan, stages: dict[str, Stage]) -> None:
    """Raise ConfigError unless every stage is on a path from a source to a sink.

    There must be no cycle, and at most one edge between two stages.
    """
    import networkx as nx  # only the driver needs it

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(stages)
    for edge in plan.links:
        if graph.has_edge(edge.upstream, edge.downstream):
            raise ConfigError(
                f"{edge.upstream!r} sends to {edge.downstream!r} twice; put a map on one of the two edges"
            )
        graph.add_edge(edge.upstream, edge.downstream)
    if not nx.is_directed_acyclic_graph(graph):
        raise ConfigError(f"expected no cycle of edges, got {nx.find_cycle(graph)}; remove one of them")
    by_role = {role: {name for name in stages if stages[name].role is role} for role in Role}
    if not by_role[Role.SOURCE] or not by_role[Role.SINK]:
        named = " -> ".join(stages) or "nothing"
        raise ConfigError(f"a job goes from a source to a sink; {plan.name!r} has {named}")
    fed = by_role[Role.SOURCE].union(*(nx.descendants(graph, name) for name in by_role[Role.SOURCE]))
    drained = by_role[Role.SINK].union(*(nx.ancestors(graph, name) for name in by_role[Role.SINK]))
    for name in stages:
        if name not in fed or (stages[name].role is not Role.SOURCE and not graph.in_degree(name)):
            raise ConfigError(f"no source feeds {name!r}")
        if name not in drained:
            raise ConfigError(f"no sink follows {name!r}")
