"""Every historic defect is put back under its rule, its run shows it, and the page lists it."""

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.adapters.flink.releases import release
from conformance.mutants.catalogue import LAYERS, load_catalogue
from conformance.released.known_divergences import known_divergences
from conformance.report.divergence import phrases
from spec.manifest import load_manifest
from spec.rules import load_rules
from tests.historic_defects import HistoricError, last_answers, left_out, load_defects, main, of_ticket

PAGE = Path(__file__).parent.parent / "docs" / "learn" / "historic-defects.md"
DEFECTS = load_defects()
MUTANTS = {mutant.id: mutant for mutant in load_catalogue()}
RULES = {rule.id for rule in load_rules()}
BY_GENERATION = [one for one in DEFECTS if one.older]
BY_MUTANT = {one.component: one for one in DEFECTS if one.mutant}.values()
"""One of each component: the others take a process each too, and are played by the module."""
IN_EVERY_LAYER = {
    "FLINK-8871", "FLINK-10354", "FLINK-10377", "FLINK-17351", "FLINK-18137", "FLINK-18290", "FLINK-18336",
    "FLINK-18748", "FLINK-18856", "FLINK-21351", "FLINK-25191", "FLINK-26394",
}  # fmt: skip
OPENING = ("job_status", "task_status")
SECTIONS = {
    "Alignment": ("ALIGN",),
    "Tracking, at least once": ("TRACK",),
    "Unaligned checkpoints and channels": ("UNAL",),
    "Tasks and sources": ("TASK",),
    "The coordinator": ("COORD", "ONCE"),
    "Savepoints, the store and shared state": ("SUB",),
    "Sinks": ("SINK",),
}


def named(values):
    return ", ".join(f"`{value}`" for value in values)


def shown(defect):
    """The run in one cell, without the events that start the job and its tasks, which each run has."""
    events = list(defect.run)
    while len(events) > 1 and events[0]["kind"] in OPENING and events[0].get("status") == "RUNNING":
        del events[0]
    return "; ".join(map(phrases.of_event, events)) or "-"


def put_back(defect):
    ways = [f"generation {defect.older}, not {defect.newer}"] if defect.older else []
    ways += [f"known divergence: {name}" for name in defect.divergences]
    return "; ".join([*ways, *([named(defect.mutants)] if defect.mutants else [])])


def page():
    runs, jars = sum(bool(one.events) for one in DEFECTS), sum(len(one.seen) == 2 for one in DEFECTS)
    tickets, outside = {one.number for one in DEFECTS}, list(left_out())
    lines = [
        "# Historic defects\n",
        f"{len(tickets)} tickets of Flink describe {len(DEFECTS)} defects in the components that this "
        "specification covers. The suite reintroduces each of them: in an older generation of the model, in "
        "a mutant, or as a known divergence of named releases. It does not reintroduce "
        f"{len(outside)} further tickets of the checkpointing packages; the last table gives the reasons. "
        "All tables are made from `conformance/mutants/historic.toml`.\n",
        f"- *Shortest run*: for {runs} defects, the events after which the defect is visible. If two "
        "generations differ in the defect, a breadth-first search over a few kinds of events plays both "
        "generations and stops at the first difference. If a mutant has the defect, the run is the shortest "
        "that breaks a property in the closed models; if no event shows the broken state, it is the shortest "
        "run after which the mutant's answer differs from the model's. When a run of the coordinator begins, "
        "the job and its tasks are already RUNNING.",
        f"- *Seen*: for {jars} defects the suite also played the run in released jars, one with the defect "
        "and one without it, and each gave exactly the answers of its generation. If the column names one "
        "release, only that release could be played: the one with the defect if it is a known divergence, "
        "otherwise the one without it. A dash means that no release was played: PyPI has no release with the "
        "defect, or the harness does not include that part of Flink.",
        "- *Releases* have the defect, and *fixed* is the first release without it, according to the release "
        "notes and the branches of Flink's sources. *Development of 1.11* means that no release had the "
        "defect.",
        "- *Reintroduced by*: the generation, mutant or known divergence that has the defect. A mutant "
        "causes the same wrong behaviour, but not with the same code. Two tickets may have one mutant.\n",
        "This command plays the runs of a ticket, with the defect and without it. `make mutants` checks that "
        "every mutant is killed by its rule.\n",
        "```console",
        "$ python -m tests.historic_defects FLINK-21351",
        CliRunner().invoke(main, ["FLINK-21351"], catch_exceptions=False).output.rstrip(),
        "```\n",
        "If you name releases after the ticket, such as `FLINK-21351 1.11.4 1.12.5`, the command also "
        "fetches these releases and plays the runs in them.",
    ]
    for title, prefixes in SECTIONS.items():
        lines += [
            f"\n## {title}\n",
            "| defect | what goes wrong | releases | fixed | rule | shortest run | seen | reintroduced by |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {one.ticket} | {one.wrong} | {one.had} | {one.fixed} | {one.rule} | {shown(one)} "
            f"| {', '.join(one.seen) or '-'} | {put_back(one)} |"
            for one in DEFECTS
            if one.rule.partition("-")[0] in prefixes
        ]
    lines += ["\n## Not reintroduced\n", "| reason | tickets |", "|---|---|"]
    for reason in dict.fromkeys(why for _, _, why in outside):
        of_reason = [f"{ticket} ({subject})" for ticket, subject, why in outside if why == reason]
        lines.append(f"| {reason} | {', '.join(of_reason)} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one.ticket)
def test_a_defect_is_put_back_under_its_rule(defect):
    models = load_manifest()
    assert defect.rule in RULES
    assert defect.mutants or defect.older or defect.divergences
    for mutant in (MUTANTS[identity] for identity in defect.mutants):
        assert mutant.rule == defect.rule
        if mutant.layer == "spec":
            assert models[mutant.model].violates == defect.rule.replace("-", "_")
    assert not defect.mutant or defect.mutant in defect.mutants
    assert bool(defect.events) == bool(defect.older or defect.mutant)


def test_known_divergences_are_of_the_releases_that_were_seen():
    known = {one.name: one for one in known_divergences()}
    for defect in DEFECTS:
        for name in defect.divergences:
            assert known[name].rule == defect.rule
            assert all(known[name].concerns(version) for version in defect.seen)


@pytest.mark.parametrize("ticket", sorted(IN_EVERY_LAYER))
def test_these_are_put_back_in_specification_model_and_implementation(ticket):
    assert {MUTANTS[name].layer for one in of_ticket(ticket) for name in one.mutants} == set(LAYERS)


def test_every_mutant_that_names_a_ticket_of_the_list_is_of_one_of_its_rules():
    rules = {}
    for one in DEFECTS:
        rules.setdefault(one.number, set()).add(one.rule)
    for mutant in MUTANTS.values():
        for ticket, known in rules.items():
            if f"({ticket})" in mutant.story:
                assert mutant.rule in known, mutant.id


@pytest.mark.parametrize("defect", BY_GENERATION, ids=lambda one: one.ticket)
def test_a_run_shows_what_two_generations_differ_in(defect):
    given, due = last_answers(defect)
    assert given != due


@pytest.mark.parametrize("defect", BY_MUTANT, ids=lambda one: one.ticket)
def test_a_run_shows_its_mutant(defect):
    given, due = last_answers(defect)
    assert given != due


def test_a_run_that_shows_nothing_is_noticed():
    (defect,) = of_ticket("FLINK-10377")
    given, due = last_answers(defect._replace(events=defect.events[:1]))
    assert given == due


@pytest.mark.parametrize("defect", [one for one in BY_GENERATION if one.seen], ids=lambda one: one.ticket)
def test_the_releases_that_were_seen_are_of_the_two_generations(defect):
    own = ("channel", "subtask", "sink", "source")
    parts = {"gate": "profile", **{name: name for name in own}}
    profiles = [
        getattr(release(version), parts.get(defect.component, "coordinator")) for version in defect.seen
    ]
    assert profiles in ([defect.older, defect.newer], [defect.older], [defect.newer])


def test_no_ticket_is_in_both_lists_or_twice():
    inside = {one.number for one in DEFECTS}
    outside = Counter(ticket for ticket, _, _ in left_out())
    assert max(Counter(one.ticket for one in DEFECTS).values()) == max(outside.values()) == 1
    assert not inside & set(outside)
    assert len(inside) >= 80


def test_a_ticket_that_is_not_put_back_has_its_reason():
    with pytest.raises(HistoricError, match="no buffers"):
        of_ticket("FLINK-22946")
    with pytest.raises(HistoricError, match="expected a ticket"):
        of_ticket("FLINK-1")
    assert CliRunner().invoke(main, ["FLINK-1"]).exit_code == 64


def test_the_page_shows_the_list(pytestconfig):
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == page()
