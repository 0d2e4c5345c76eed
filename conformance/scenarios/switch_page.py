"""Makes the page of all switches of the generations, with the released Flinks that have decided each."""

import ast
import inspect
from collections.abc import Mapping, Sequence
from itertools import pairwise

from conformance.adapters.flink.releases import releases
from conformance.report.divergence import phrases
from conformance.report.released import ranges
from conformance.scenarios.deciding_runs import (
    AGREES,
    GENERATIONS,
    Decided,
    DecidingRun,
    deciding_runs,
    digest,
    distinguished,
    first_difference,
    generation,
    switches,
)
from conformance.scenarios.side_by_side import table_row

INTRODUCTION = """\
# The switches of the generations

Made by `barrierspec flink switches`; do not edit it, edit `conformance/released/deciding-runs.toml`.

Generations of Flink differ in *switches*. For each switch this page has a *deciding run*, whose answers \
differ between generations with the switch and generations without it. A coordinator's job and its tasks \
run when the run begins. The last two columns have the answers to the last event of the run, without the \
switch and with it. Behind each answer stand the releases whose own classes were driven through the run \
and gave exactly the answers of their generation. A release is named only if these answers differ from \
those of every generation with the other value. *No such option*: the generations lack a mode or an \
option that the run needs, so the run only shows that the others have it.

Generations differ in several switches. So a test turns one switch of a generation at a time, and checks \
that some property then forbids the run. A release stands in parentheses if no property does: in its \
generation the switch has no effect on the run, or another switch causes the difference too. The test \
covers gates, subtasks and coordinators; there are no parentheses for the other components.

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
        lines += [table_row(["switch", "meaning", "run", "without it", "with it"]), table_row(["---"] * 5)]
        meanings = _meanings(list(generations.values())[-1])
        for switch in switches(component):
            run = deciding_runs()[component, switch]
            sides = [_side(run, results, value) for value in (False, True)]
            lines.append(table_row([f"`{switch}`", meanings[switch], _shown(run), *sides]))
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def undecided(results: Mapping[str, Decided]) -> list[str]:
    """The switches with a value that no driven release has decided, each with this value in words."""
    words = {True: "with", False: "without"}
    return [
        f"{run.component}.{run.switch} {words[value]} it"
        for run in deciding_runs().values()
        for value in (False, True)
        if not set(_deciding(run, results, value).values()) - run.unforbidden
    ]


def _names(component: str) -> str:
    names = ", ".join(GENERATIONS[component])
    return f"The generations: {names}. A generation holds up to the next one."


def _side(run: DecidingRun, results: Mapping[str, Decided], value: bool) -> str:
    """The cell of the generations in which the switch has this value: each answer, and its releases."""
    known = GENERATIONS[run.component]
    found = _deciding(run, results, value)
    answers: dict[str, list[str]] = {}
    for name, one in known.items():
        edges = run.transcript(name)
        if edges is not None and getattr(one, run.switch) == value:
            edge = edges[len(run.opening) + first_difference(run.place)]
            answer = "refused" if edge.refused is not None else phrases.of_effects(edge.effects)
            answers.setdefault(answer, []).extend(version for version in found if found[version] == name)
    cells = [f"{answer}: {_named(versions, found, run)}" for answer, versions in answers.items()]
    return "; ".join(cells) or "no such option"


def _named(versions: Sequence[str], generations: Mapping[str, str], run: DecidingRun) -> str:
    """The releases; in parentheses those of generations in `unforbidden`."""
    forbidden = [version for version in versions if generations[version] not in run.unforbidden]
    others = [version for version in versions if generations[version] in run.unforbidden]
    named = [ranges(releases(), forbidden)] * bool(forbidden) + [f"({ranges(releases(), others)})"] * bool(
        others
    )
    return " ".join(named) or "no release"


def _deciding(run: DecidingRun, results: Mapping[str, Decided], value: bool) -> dict[str, str]:
    """The releases that have decided that the switch has this value, each with its generation."""
    found = {}
    for version in releases():
        profile = generation(releases()[version], run.component)
        outcome = results[version].outcomes.get(run.place) if version in results else None
        if outcome is None or not profile or outcome.result != AGREES:
            continue
        if getattr(GENERATIONS[run.component][profile], run.switch) != value:
            continue
        if outcome.digest == digest(run.place, profile) and profile in distinguished(run.place):
            found[version] = profile
    return found


def _exceptions(results: Mapping[str, Decided]) -> str:
    """The runs in which releases differed, and those that releases do not offer."""
    odd: list[str] = []
    found: dict[tuple[str, str], list[str]] = {}
    for version, decided in results.items():
        for (component, switch), outcome in decided.outcomes.items():
            if outcome.is_odd:
                odd.append(f"- {version}, `{component}.{switch}`: {outcome.result}")
            elif outcome.why_not_offered is not None:
                found.setdefault((f"`{component}.{switch}`", outcome.why_not_offered), []).append(version)
    differing = ["**Some differed, or did not answer:**", "\n".join(odd)]
    parts = differing if odd else ["No release differed from its generation."]
    if found:
        lines = [f"- {run}: {why} ({ranges(releases(), versions)})" for (run, why), versions in found.items()]
        parts += ["Not offered, so not driven:", "\n".join(lines)]
    return "\n\n".join(parts)


def _shown(run: DecidingRun) -> str:
    events = "; ".join(map(phrases.of_event, run.events[: first_difference(run.place) + 1]))
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
