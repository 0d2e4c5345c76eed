"""The table of engines: documented guarantees, results of the rounds, and the commands that repeat them."""

import re
from collections import Counter
from collections.abc import Sequence

from conformance.engines.results import (
    REPRODUCED,
    Stored,
    Summary,
    effects,
    had_effect,
    protocol_alarms,
    summaries,
)
from conformance.observe.guarantees.anomalies import Anomaly, Subject

BEGIN, END = "<!-- table of engines: begin -->", "<!-- table of engines: end -->"
"""The marks in a page between which the table is written."""


_EXECUTION = re.compile(r" [0-9a-f]{32}\S*")
"""Matches the id of an execution in the reason that Flink states for a failed checkpoint."""


def line(one: Stored) -> str:
    """The text about a round: one line, and one for each anomaly."""
    kinds = ", ".join(fault["kind"] for fault in one["faults"])
    settings = " ".join(str(value) for value in one["settings"].values())
    if one["undetermined"]:
        verdict = f"UNDETERMINED: {one['undetermined']}"
    else:
        verdict = f"{one['guarantee']} is not refuted, {one['rows']:,} rows"
    lines = [f"  {one['row']}-{one['round']}  {verdict}; {one['seconds']:.0f} s; {settings}; {kinds}"]
    lines += [
        f"    {found['times']} {Anomaly(found['anomaly']).title}, the first: {found['first']}"
        for found in one["findings"]
    ]
    if log := one["log"]:
        lines.append(
            f"    log: {log['verdict']}, {log['lines']:,} protocol lines, {log['replayed']:,} replayed"
        )
    for effect in effects(one):
        shown = "" if had_effect(effect) else "NO EFFECT: "
        lines.append(
            f"    {effect['fault']}: {shown}checkpoints: {effect['failed']} failed, {effect['completed']} "
            f"completed; lines of the log that show the fault: {effect['lines']}"
        )
    if state := one.get("state"):
        read = f"{state['records']:,} records of {state['keys']} keys" if "keys" in state else state["unread"]
        lines.append(f"    state in the last savepoint: {read}")
    lines += [f"    alarm: {alarm}" for alarm in protocol_alarms(one)]
    return "\n".join(lines)


def text(found: Sequence[Summary]) -> str:
    """The table for the screen."""
    return "\n".join(
        f"  {one.row.name} {one.version}: {len(one.judged)} rounds, {one.faults} faults; claimed "
        f"{one.row.claim.value}; {one.guarantee.value} is not refuted; {_names(one)}"
        for one in found
    )


def bound(found: Sequence[Summary]) -> str:
    """The numbers of rounds and faults, in one phrase."""
    faults, judged = sum(one.faults for one in found), sum(len(one.judged) for one in found)
    without = sum(len(one.rounds) for one in found) - judged
    more = f", {without} rounds without a verdict" if without else ""
    return f"{judged} rounds of {len(found)} rows, {faults} faults{more}; a run refutes, it never proves"


def page(before: str, rounds: Sequence[Stored]) -> str:
    """The page with the table of these rounds. Raises ValueError if it has no marks."""
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"expected a page with the marks {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{markdown(summaries(rounds))}\n\n{END}{tail}"


def markdown(found: Sequence[Summary]) -> str:
    """The tables of the page: engines, evidence, faults by kind."""
    lines = [
        "| row | version | sink | claimed | faults (rounds) | not refuted by these runs | seen |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        number = f"{one.faults} ({len(one.judged)})"
        claim = "planted defect" if one.row.planted else one.row.claim.value
        lines.append(
            f"| `{one.row.name}` | {one.version} | {one.row.sink} | {claim} | {number} | "
            f"{one.guarantee.value if one.judged else 'no verdict'} | {_names(one)} |"
        )
    seeds = sorted({str(round_["seed"]) for one in found for round_ in one.rounds})
    lines += ["", f"Seed of the rounds: {', '.join(seeds)}.", "", "The claims:", ""]
    claims: dict[str, str] = {}
    for one in found:
        if not one.row.planted:
            claims.setdefault(one.row.says, one.row.name.partition("@")[0])
    lines += [f"- `{name}`: {claim}." for claim, name in claims.items()]
    lines += ["", "The shortest evidence of each anomaly, and the command that repeats its round:", ""]
    lines += ["| row | anomaly | rounds | the first occurrence | again |", "|---|---|---|---|---|"]
    for one in found:
        for anomaly, rounds in one.anomalies.items():
            shown = min(rounds, key=lambda round_: (len(round_["faults"]), round_["round"]))
            first = next(each["first"] for each in shown["findings"] if each["anomaly"] == anomaly.value)
            lines.append(
                f"| `{one.row.name}` | {anomaly.title} | {len(rounds)} of {len(one.judged)} | {first} | "
                f"`{again(shown)}` |"
            )
    lines += ["", "The faults by kind:", "", *_kinds(found)]
    lines += ["", "What the monitor found in the logs and in the answers of the REST interface:", ""]
    lines += _protocol(found)
    lines += ["", "The faults that make checkpoints fail, and their observed effect:", ""]
    lines += _effects(found)
    lines += ["", "The state of each key, read from a last savepoint:", "", *_states(found)]
    return "\n".join(lines)


def again(one: Stored) -> str:
    """The command that repeats a round."""
    return f"barrierspec engines --row {one['row']} --seed {one['seed']} --only {one['round']}"


def _kinds(found: Sequence[Summary]) -> list[str]:
    kinds = list(dict.fromkeys(kind for one in found for kind in one.kinds))
    cells = {one.row.name: " | ".join(str(one.kinds[kind] or "") for kind in kinds) for one in found}
    return [
        f"| row | {' | '.join(kinds)} |",
        "|---" * (len(kinds) + 1) + "|",
        *(f"| `{name}` | {row} |" for name, row in cells.items()),
    ]


def _protocol(found: Sequence[Summary]) -> list[str]:
    """Lines, polls and alarms of the rows with logs of Flink."""
    lines = [
        "| row | logs | lines about the protocol | replayed through the model | rules | polls | alarms |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        logs = [round_["log"] for round_ in one.judged if round_["log"]]
        polls = [answer for round_ in one.judged for answer in round_["rest"] if "polls" in answer]
        if not logs and not polls:
            continue
        rules = {rule for each in (*logs, *polls) for rule in each["rules"]}
        alarms = [alarm for round_ in one.judged for alarm in protocol_alarms(round_)]
        lines.append(
            f"| `{one.row.name}` | {len(logs)} | {sum(log['lines'] for log in logs):,} | "
            f"{sum(log['replayed'] for log in logs):,} | {len(rules)} | "
            f"{sum(answer['polls'] for answer in polls):,} | {len(alarms)} |"
        )
    return lines


def _effects(found: Sequence[Summary]) -> list[str]:
    """For each row and kind of fault: the numbers of faults with an effect and of failed checkpoints."""
    lines = [
        "| row | fault | faults with effect | checkpoints that failed | that completed | reported reasons |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        for kind, seen in one.effects.items():
            reasons: Counter[str] = Counter()
            for effect in seen:
                for message, times in effect["messages"].items():
                    reasons[_EXECUTION.sub("", message).rstrip(".")] += times
            lines.append(
                f"| `{one.row.name}` | {kind} | {sum(map(had_effect, seen))} of {len(seen)} | "
                f"{sum(effect['failed'] for effect in seen):,} | "
                f"{sum(effect['completed'] for effect in seen):,} | "
                f"{'; '.join(f'{reason} ({number})' for reason, number in reasons.most_common())} |"
            )
    return lines


def _states(found: Sequence[Summary]) -> list[str]:
    """For each row: the number of rounds with a read state, and the differences."""
    lines = ["| row | rounds | states read | states that differ |", "|---|---|---|---|"]
    for one in found:
        read = [round_ for round_ in one.judged if "keys" in round_.get("state", {})]
        differs = sum(
            any(Anomaly(each["anomaly"]).subject is Subject.STATE for each in round_["findings"])
            for round_ in read
        )
        if read:
            lines.append(f"| `{one.row.name}` | {len(one.judged)} | {len(read)} | {differs} |")
    return lines


def _names(one: Summary) -> str:
    """The anomalies with the number of rounds; those that were not reproduced are marked."""
    return "; ".join(
        f"{anomaly.title} ({len(rounds)} of {len(one.judged)})"
        + ("" if len(rounds) >= REPRODUCED else ", not reproduced three times")
        + (", as documented" if anomaly in one.row.announced else "")
        for anomaly, rounds in one.anomalies.items()
    ) or ("no anomaly" if one.judged else "")
