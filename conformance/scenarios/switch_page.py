"""Makes the page of all switches of the generations, with the released Flinks that have decided each."""

import ast
import inspect
from collections.abc import Mapping, Sequence
from itertools import pairwise

from conformance.adapters.flink.releases import releases
from conformance.report.divergence import phrases
from conformance.scenarios.deciding_runs import (
    AGREES,
    GENERATIONS,
    Decided,
    DecidingRun,
    deciding_runs,
    generation,
    switches,
    told_apart,
)

INTRODUCTION = """\
# The switches of the generations

Made by `barrierspec flink switches`; do not edit it, edit `conformance/released/deciding-runs.toml`.

Generations of Flink differ in *switches*. For each switch this page has a *deciding run*, whose answers \
differ between generations with the switch and generations without it. A coordinator's job and its tasks run \
when the run begins. The last two columns have the answer to the last event, in the nearest generation \
without the switch and in the nearest one with it. Then come the releases whose own classes were driven \
through the run and gave exactly the answers of their generation. A release is named only if these answers \
differ from those of every generation with the other value. *No such option*: the generations lack a \
mode or an option that the run needs, so their releases were not driven.

"""


def page(results: Mapping[str, Decided]) -> str:
    """The whole page in Markdown. `results`: of the releases that were driven, by version."""
    results = {version: results[version] for version in releases() if version in results}
    driven = (
        f"{len(results)} of {len(releases())} listed releases were driven, {len(deciding_runs())} runs each."
    )
    parts = [f"{INTRODUCTION}{driven} {_exceptions(results)}"]
    for component, generations in GENERATIONS.items():
        lines = [f"## {component.capitalize()}", "", _names(component), ""]
        lines += [_row(["switch", "meaning", "run", "without it", "with it"]), _row(["---"] * 5)]
        meanings = _meanings(list(generations.values())[-1])
        for switch in switches(component):
            run = deciding_runs()[component, switch]
            sides = [_side(run, results, value) for value in (False, True)]
            lines.append(_row([f"`{switch}`", meanings[switch], _shown(run), *sides]))
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def undecided(results: Mapping[str, Decided]) -> list[str]:
    """The switches that no driven release has decided on one of the two sides, with the side."""
    words = {True: "with", False: "without"}
    return [
        f"{run.component}.{run.switch} {words[value]} it"
        for run in deciding_runs().values()
        for value in (False, True)
        if not _deciding(run, results, value)
    ]


def _names(component: str) -> str:
    names = ", ".join(GENERATIONS[component])
    return f"The generations: {names}. A generation holds up to the next one."


def _side(run: DecidingRun, results: Mapping[str, Decided], value: bool) -> str:
    """The cell of the generations in which the switch has this value."""
    found = _deciding(run, results, value)
    profile = _nearest(run, value)
    if profile is None:
        return "no such option"
    edge = (run.transcript(profile) or ())[-1]
    answer = "refused" if edge.refused is not None else phrases.of_effects(edge.effects)
    return f"{answer}; {ranges(found) if found else 'no release'}"


def _nearest(run: DecidingRun, value: bool) -> str | None:
    """The generation with this value that is nearest to a change of the switch, and has the run's options."""
    known = GENERATIONS[run.component]
    changes = [
        pair for pair in pairwise(known) if len({getattr(known[name], run.switch) for name in pair}) == 2
    ]
    near = [name for pair in reversed(changes) for name in pair]
    every = [*near, *reversed(list(known))]
    fitting = [name for name in every if getattr(known[name], run.switch) == value]
    return next((name for name in fitting if run.transcript(name) is not None), None)


def _deciding(run: DecidingRun, results: Mapping[str, Decided], value: bool) -> list[str]:
    """The releases that have decided that the switch has this value in their generation."""
    found = []
    for version, decided in results.items():
        outcome = decided.outcomes.get(run.place)
        profile = generation(releases()[version], run.component)
        if outcome is None or outcome != (AGREES, run.digest) or not profile:
            continue
        if getattr(GENERATIONS[run.component][profile], run.switch) == value and profile in told_apart(
            run.place
        ):
            found.append(version)
    return found


def ranges(versions: Sequence[str]) -> str:
    """The versions; neighbours in the list of releases as `first to last`."""
    every = list(releases())
    groups: list[list[str]] = []
    for version in versions:
        if groups and every.index(version) == every.index(groups[-1][-1]) + 1:
            groups[-1].append(version)
        else:
            groups.append([version])
    return ", ".join(f"{one[0]} to {one[-1]}" if len(one) > 2 else ", ".join(one) for one in groups)


def _exceptions(results: Mapping[str, Decided]) -> str:
    """The runs in which releases differed, and those that releases do not offer."""
    odd: list[str] = []
    not_offered: dict[tuple[str, str], list[str]] = {}
    for version, decided in results.items():
        for (component, switch), outcome in decided.outcomes.items():
            if outcome.is_odd:
                odd.append(f"- {version}, `{component}.{switch}`: {outcome.result}")
            elif outcome.why_not_offered is not None:
                not_offered.setdefault((f"`{component}.{switch}`", outcome.why_not_offered), []).append(
                    version
                )
    lines = [f"- {run}: {why} ({ranges(versions)})" for (run, why), versions in not_offered.items()]
    differing = (
        "**Some differed:**\n\n" + "\n".join(odd) if odd else "No release differed from its generation."
    )
    return differing + ("\n\nNot offered, so not driven:\n\n" + "\n".join(lines) if lines else "")


def _shown(run: DecidingRun) -> str:
    events = "; ".join(map(phrases.of_event, run.events))
    return f"{phrases.of_config(run.component, run.config)}: {events}"


def _meanings(newest: object) -> dict[str, str]:
    """The sentence under each switch of the profiles of `newest`."""
    module = inspect.getmodule(type(newest))
    assert module is not None
    tree = ast.parse(inspect.getsource(module))
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == type(newest).__name__:
            for field, text in pairwise(node.body):
                if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                    found[ast.unparse(field.target)] = " ".join(str(ast.literal_eval(text.value)).split())
    return found


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
