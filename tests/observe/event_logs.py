"""Event logs as lists of lines, which a test reads, alters and writes again; and the possible corruptions."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Lines = list[dict[str, Any]]
Log = dict[str, Lines]


def read(folder: Path) -> Log:
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in folder.glob("*.jsonl")
    }


def write(log: Log, folder: Path) -> Path:
    """Writes the files, with new line numbers in each. A dropped line leaves no gap."""
    for name, lines in log.items():
        numbered = [json.dumps({**line, "seq": place}) for place, line in enumerate(lines)]
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in numbered))
    return folder


def places(lines: Lines, component: str, kind: str, effect: str | None = None) -> Iterator[int]:
    for place, line in enumerate(lines):
        if line.get("component") != component or line["event"]["kind"] != kind:
            continue
        if effect is None or any(output["kind"] == effect for output in line["effects"]):
            yield place


def first(lines: Lines, component: str, kind: str, effect: str | None = None) -> int:
    return next(places(lines, component, kind, effect))


# ---------------------------------------------------------------- corrupted


def acknowledged_twice(log: Log) -> None:
    """The coordinator gets an acknowledgement a second time, although it was sent once."""
    lines = log["coordinator"]
    place = first(lines, "coordinator", "acknowledge")
    again = {**lines[place], "effects": [{**lines[place]["effects"][0], "result": "DUPLICATE"}]}
    lines.insert(place + 1, again)


def acknowledged_without_snapshot(log: Log) -> None:
    """A task's asynchronous part has not ended, but the coordinator has its acknowledgement."""
    lines = log["1-count-0"]
    del lines[first(lines, "subtask", "async_done", "acknowledge")]


def completed_before_the_last(log: Log) -> None:
    """The effects of the completion already occur at the acknowledgement before the last one."""
    lines = log["coordinator"]
    place = first(lines, "coordinator", "acknowledge", "complete")
    earlier = max(one for one in places(lines, "coordinator", "acknowledge") if one < place)
    lines[earlier]["effects"] += lines[place]["effects"][1:]
    del lines[place]["effects"][1:]


def restored_an_older_one(log: Log) -> None:
    """The coordinator answers, and all tasks restore, a checkpoint before the newest completed one."""
    for lines in log.values():
        for line in lines:
            if line["attempt"] == 2 and line.get("restored") is not None:
                line["restored"] -= 1
            if line["attempt"] == 2 and line.get("event", {}).get("kind") == "restore":
                for output in [line["event"], *line["effects"]]:
                    if "checkpoint" in output:
                        output["checkpoint"] -= 1


def one_task_restored_another(log: Log) -> None:
    """One task is deployed from the beginning, the others from the checkpoint."""
    log["2-count-1"][0]["restored"] = None


def barrier_before_a_record(log: Log) -> None:
    """A barrier is read one record earlier than it was sent."""
    lines = log["1-count-0"]
    lines[first(lines, "gate", "barrier")]["records"] -= 1


def barrier_that_nobody_sent(log: Log) -> None:
    """A barrier comes from a source that has broadcast no barrier of this checkpoint."""
    lines = log["3-count-0"]
    place = first(lines, "gate", "end_of_partition")
    event = {"kind": "barrier", "channel": lines[place]["event"]["channel"], "checkpoint": 99}
    block = {"kind": "block", "channel": event["channel"]}
    lines.insert(place, {**lines[place], "event": event, "effects": [block]})


def committed_before_completion(log: Log) -> None:
    """The sink commits directly after its snapshot, although no notification was sent."""
    lines = log["1-sink-0"]
    place = first(lines, "subtask", "async_done", "acknowledge")
    checkpoint = lines[place]["event"]["checkpoint"]
    transactions = [
        output["transaction"]
        for line in lines[:place]
        if line.get("component") == "sink"
        for output in line["effects"]
        if output["kind"] == "pre_commit"
    ]
    shown = {**lines[place], "event": {"kind": "complete_notification", "checkpoint": checkpoint}}
    shown["effects"] = [{"kind": "notify_complete", "checkpoint": checkpoint}]
    done = {**shown, "component": "sink", "event": {"kind": "notify_complete", "checkpoint": checkpoint}}
    done["effects"] = [{"kind": "commit", "transaction": one} for one in transactions]
    lines[place:place] = [shown, done]


def committed_unasked(log: Log) -> None:
    """The sink's snapshot commits the transaction that it has just pre-committed."""
    lines = log["1-sink-0"]
    effects = lines[first(lines, "sink", "snapshot", "pre_commit")]["effects"]
    effects.append({"kind": "commit", "transaction": effects[0]["transaction"]})


def effect_altered(log: Log) -> None:
    """A gate blocks another channel than that of the barrier."""
    lines = log["1-count-1"]
    effect = lines[first(lines, "gate", "barrier", "block")]["effects"][0]
    effect["channel"] = 1 - effect["channel"]


def snapshot_after_release(log: Log) -> None:
    """A gate unblocks its channels before it triggers the snapshot."""
    lines = log["1-count-0"]
    effects = lines[first(lines, "gate", "barrier", "trigger")]["effects"]
    effects[1], effects[2] = effects[2], effects[1]


def foreign_attempt(log: Log) -> None:
    """A message of the first attempt is handled in a file of the second one."""
    lines = log["2-count-0"]
    lines[first(lines, "gate", "barrier")]["attempt"] = 1


def gate_line_dropped(log: Log) -> None:
    """The gate has triggered, but the subtask's own line is missing."""
    lines = log["1-count-0"]
    del lines[first(lines, "subtask", "checkpoint")]


def blocked_channel_read(log: Log) -> None:
    """A gate reads the barrier of the next checkpoint from a channel that is still blocked."""
    lines = log["1-count-0"]
    place = next(
        one
        for one in places(lines, "gate", "barrier")
        if [e["kind"] for e in lines[one]["effects"]] == ["block"]
    )
    channel = lines[place]["event"]["channel"]
    after = next(
        one
        for one in places(lines, "gate", "barrier")
        if one > place and lines[one]["event"]["channel"] == channel
    )
    lines.insert(place + 1, lines.pop(after))


def two_swapped(log: Log) -> None:
    """The line of a source's trigger comes after that of its acknowledgement."""
    lines = log["1-src-0"]
    place = first(lines, "subtask", "async_done", "acknowledge")
    trigger = first(lines, "subtask", "checkpoint", "snapshot")
    lines.insert(place, lines.pop(trigger))


def rows_written_twice(log: Log) -> None:
    """A transaction contains more records than have arrived since the previous snapshot."""
    lines = log["1-sink-0"]
    lines[first(lines, "sink", "snapshot", "pre_commit")]["rows"] += 1


def replayed_from_the_wrong_offset(log: Log) -> None:
    """A restored source continues one record too late."""
    for line in log["2-src-1"]:
        if "offset" in line:
            line["offset"] += 1


def unknown_attempt(log: Log) -> None:
    """A line is of a task in an attempt that the coordinator has never started."""
    log["4-src-0"] = [{**line, "attempt": 4} for line in log["3-src-0"]]


CORRUPTIONS = [
    (acknowledged_twice, "TASK-07", "coordinator"),
    (acknowledged_without_snapshot, "TASK-07", "coordinator"),
    (completed_before_the_last, "COORD-07", "coordinator"),
    (restored_an_older_one, "ONCE-04", "coordinator"),
    (one_task_restored_another, "ONCE-04", "2-count-1"),
    (barrier_before_a_record, "ONCE-01", "1-count-0"),
    (barrier_that_nobody_sent, "TASK-01", "3-count-0"),
    (committed_before_completion, "ONCE-05", "1-sink-0"),
    (committed_unasked, "SINK-03", "1-sink-0"),
    (effect_altered, "ALIGN-02", "1-count-1"),
    (snapshot_after_release, "ALIGN-06", "1-count-0"),
    (foreign_attempt, "ONCE-06", "2-count-0"),
    (gate_line_dropped, "TASK-01", "1-count-0"),
    (blocked_channel_read, "ALIGN-17", "1-count-0"),
    (two_swapped, "TASK-07", "1-src-0"),
    (rows_written_twice, "ONCE-03", "1-sink-0"),
    (replayed_from_the_wrong_offset, "ONCE-02", "2-src-1"),
    (unknown_attempt, "ONCE-06", "4-src-0"),
]
