"""The watch command: growing files, several jobs, JSON, Prometheus, REST, and bounded memory."""

import json
import re
import tracemalloc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from monitored import watched

from conformance.cli import run
from conformance.observe.flink import read_lines
from conformance.observe.monitor.growing import Text
from conformance.observe.monitor.monitor import Monitor
from conformance.observe.monitor.reports import Alarm, Ended
from conformance.observe.monitor.rest import RestWatch, UnreachableError
from conformance.observe.monitor.shown import verdict_of
from conformance.observe.monitor.watching import Options, Watching
from conformance.verdict import Exit, Verdict

INFO = Path(__file__).parents[1] / "logs" / "info"
OTHER = "0" * 31 + "1"
REAL_JOB = "79c75c585ee1329a683f2ac757857f22"


@cache
def real() -> tuple[str, ...]:
    """A healthy job on 2.2.1 at INFO, in Flink's own layout."""
    return tuple(read_lines(str(INFO / "flink-2.2.1-info.log.gz")))


def test_a_real_log_at_info_raises_no_alarm() -> None:
    found = watched(real())
    assert [alarm.describe() for alarm in found.alarms] == []
    assert sum(one.state == "completed" for one in found.ended) > 100
    assert all(one.size and one.duration_ms is not None for one in found.ended)
    assert "COORD-08" in found.monitor.rules()


def as_json(line: str) -> str:
    date, time, level, logger, _, _, message = [*line.split(None, 5), ""][:7]
    message = line.partition(" - ")[2]
    zoned = f"{date}T{time.replace(',', '.')}+00:00"
    return json.dumps({"@timestamp": zoned, "log.level": level, "log.logger": logger, "message": message})


def test_the_same_log_in_json_gives_the_same() -> None:
    plain, found = watched(real()), watched([as_json(line) for line in real()])
    assert found.alarms == []
    assert [one[:6] for one in found.ended] == [one[:6] for one in plain.ended]


def test_a_cut_line_in_json_cannot_be_read() -> None:
    lines = [as_json(line) for line in real()]
    place = next(at for at, line in enumerate(lines) if "Completed checkpoint 5 " in line)
    lines[place] = lines[place][:-20]
    alarm = watched(lines).alarms[0]
    assert (alarm.rule, alarm.place.line) == ("", place + 1)


def test_two_jobs_in_one_log_are_distinguished() -> None:
    other = [
        line.replace(REAL_JOB, OTHER).replace("1659294471e30dd30d019fa1720ee927", "f" * 32) for line in real()
    ]
    mixed = [line for pair in zip(real(), other, strict=True) for line in pair]
    found = watched(mixed)
    assert found.alarms == []
    completed = {one.job for one in found.ended if one.state == "completed"}
    assert completed == {REAL_JOB, OTHER}


def test_concatenated_logs_are_read_one_after_the_other() -> None:
    """The second log is of another job and release. It ends as it does alone, and raises no alarm."""
    first = real()
    second = tuple(read_lines(str(INFO.parent / "flink-1.20.5-fail.log.gz")))
    found, alone = watched([*first, *second]), watched(second)
    assert found.alarms == []
    assert len(found.ended) == len(watched(first).ended) + len(alone.ended)
    assert {one.job for one in found.ended} > {one.job for one in alone.ended}


def test_a_job_manager_that_restarts_continues_the_ids() -> None:
    lines = list(real())
    last = max(n for n in range(1, 500) if any(f"Completed checkpoint {n} for" in line for line in lines))
    head = lines[1].partition("No checkpoint")[0]
    restored = f"{head}Restoring job {REAL_JOB} from Checkpoint {last} @ 0 for {REAL_JOB} located at x."
    start = [line for line in lines[2:40] if "Triggering" not in line and "ompleted" not in line]
    trigger = next(line for line in lines if f"Triggering checkpoint {last} " in line)
    later = trigger.replace(f"checkpoint {last} ", f"checkpoint {last + 1} ")
    assert watched([*lines, restored, *start, later]).alarms == []
    found = watched(
        [*lines, restored.replace(f"Checkpoint {last} ", f"Checkpoint {last - 1} "), *start, later]
    )
    assert [alarm.rule for alarm in found.alarms] == ["ONCE-04"]


def test_a_job_manager_that_starts_while_the_job_restarts_continues_the_ids() -> None:
    lines = list(real())
    last = max(n for n in range(1, 500) if any(f"Completed checkpoint {n} for" in line for line in lines))
    head = lines[1].partition("No checkpoint")[0]
    restored = f"{head}Restoring job {REAL_JOB} from Checkpoint {last} @ 0 for {REAL_JOB} located at x."
    start = [line for line in lines[2:40] if "Triggering" not in line and "ompleted" not in line]
    running = next(line for line in lines if f"({REAL_JOB}) switched from state CREATED to RUNNING" in line)
    fails = running.replace("CREATED to RUNNING", "RUNNING to RESTARTING")
    again = running.replace("CREATED to RUNNING", "RESTARTING to RUNNING")

    found = watched([*lines, fails, restored, *start, fails, restored, again])

    assert [alarm.describe() for alarm in found.alarms] == []


def test_a_watch_follows_a_file_that_does_not_exist_yet(tmp_path: Path) -> None:
    log, prometheus, said = tmp_path / "job.log", tmp_path / "m.prom", []
    watching = Watching(Options(logs=(str(log),), prometheus=prometheus), said.append)
    assert watching.read() is False
    lines = [f"{line}\n" for line in real()]
    log.write_text("".join(lines[:200]))
    assert watching.read()
    with log.open("a") as more:
        more.write("".join(lines[200:]))
        marking = next(line for line in lines if "Marking checkpoint 5 " in line)
        more.write(marking.replace("as completed", "as complEted"))
    watching.read()
    assert watching.finish() is Verdict.UNDETERMINED
    alarms = [line for line in said if line.startswith("ALARM")]
    assert len(alarms) == 1
    assert f"job.log:{len(lines) + 1}: UNREADABLE" in alarms[0]
    content = prometheus.read_text()
    assert "barrierspec_unreadable_total 1\n" in content
    assert f'barrierspec_checkpoints_total{{job="{REAL_JOB}",state="completed"}}' in content
    assert list(tmp_path.glob(".m.prom*")) == []


def test_the_command_prints_json_lines_and_ends_with_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.log"
    log.write_text("".join(f"{line}\n" for line in real()))
    follow = ["trace", "flink", "--follow", str(log), "--for", "0", "--json-lines"]
    assert run(follow) == Exit.CONFORMS
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert objects[-1]["what"] == "summary"
    assert objects[-1]["verdict"] == "CONFORMS"
    assert {one["what"] for one in objects[:-1]} == {"checkpoint"}
    doubled = next(line for line in real() if "Completed checkpoint 7 " in line)
    with log.open("a") as more:
        more.write(f"{doubled}\n")
    assert run(follow) == Exit.DIVERGES
    alarm = json.loads(capsys.readouterr().out.splitlines()[-2])
    assert (alarm["rule"], alarm["checkpoint"], alarm["line"]) == ("COORD-07", 7, len(real()) + 1)


@pytest.mark.parametrize(
    "arguments",
    [["--follow"], ["--follow", "-"], ["x.log"], ["--json-lines", "x.log"], ["--rest", "nothing"]],
)
def test_a_source_that_cannot_be_watched_is_a_usage_error(arguments: list[str]) -> None:
    assert run(["trace", "flink", *arguments]) == Exit.USAGE


# ---------------------------------------------------------------- memory


def endless(checkpoints: int) -> Iterator[str]:
    """A log of many checkpoints, with a restart after each thousand."""
    head = [line for line in real() if "ompleted" not in line and "Triggering" not in line]
    yield from head
    trigger = next(line for line in real() if "Triggering checkpoint 7 " in line)
    completed = next(line for line in real() if "Completed checkpoint 7 " in line)
    for number in range(1, checkpoints + 1):
        yield trigger.replace("checkpoint 7 ", f"checkpoint {number} ")
        yield completed.replace("checkpoint 7 ", f"checkpoint {number} ")


def test_old_checkpoints_are_forgotten() -> None:
    monitor = Monitor(lambda alarm: None, lambda ended: None)
    held = []
    tracemalloc.start()
    for number, text in enumerate(endless(12_000), 1):
        monitor.read(Text("job.log", number, text))
        if number % 8_000 == 0:
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert not monitor.alarms
    assert monitor.ended["completed"] == 12_000
    assert held[-1] < held[0] * 1.1, held


# ---------------------------------------------------------------- REST


class Cluster:
    """REST answers recorded from a real 2.2.1, which a test alters."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = json.loads((INFO / "rest-2.2.1.json").read_text())
        self.is_lost = False

    def fetch(self, url: str) -> Any:
        if self.is_lost:
            raise UnreachableError(url)
        if url.endswith("/jobs"):
            return {"jobs": [{"id": REAL_JOB, "status": "RUNNING"}]}
        if url.endswith("/config"):
            return {"max_concurrent": 1}
        return self.answer if url.endswith("/checkpoints") else {"vertices": []}


def polling() -> tuple[Cluster, list[Alarm], RestWatch]:
    """A cluster, a watch of it, and the alarms that the watch raises."""
    cluster, alarms = Cluster(), list[Alarm]()
    return cluster, alarms, RestWatch("http://127.0.0.1:1", alarms.append, lambda ended: None, cluster.fetch)


def polled(alter: Any) -> list[str]:
    cluster, alarms, ended = Cluster(), list[Alarm](), list[Ended]()
    watch = RestWatch("http://127.0.0.1:1", alarms.append, ended.append, cluster.fetch)
    watch.poll()
    watch.poll()
    assert alarms == []
    assert [one.state for one in ended] == ["completed"] * len(cluster.answer["history"])
    alter(cluster.answer)
    watch.poll()
    return [alarm.rule for alarm in alarms]


def newest(answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = answer["history"][0]
    return found


@pytest.mark.parametrize(
    ("rule", "alter"),
    [
        ("COORD-09", lambda answer: newest(answer).update(status="FAILED")),
        ("COORD-02", lambda answer: newest(answer).update(trigger_timestamp=1)),
        ("COORD-02", lambda answer: answer["history"].reverse()),
        ("COORD-07", lambda answer: newest(answer).update(num_acknowledged_subtasks=3)),
        ("COORD-07", lambda answer: answer["counts"].update(completed=answer["counts"]["completed"] - 1)),
        ("COORD-07", lambda answer: answer["latest"]["completed"].update(id=newest(answer)["id"] - 1)),
        ("ONCE-04", lambda answer: answer["latest"].update(
            restored={"id": newest(answer)["id"] - 2, "restore_timestamp": 1 << 50, "is_savepoint": False})),
        ("", lambda answer: newest(answer).update(id="x")),
        ("", lambda answer: newest(answer).update(status="DONE")),
    ],
)  # fmt: skip
def test_an_answer_that_breaks_a_rule_raises_an_alarm(rule: str, alter: Any) -> None:
    assert polled(alter)[0] == rule


@pytest.mark.parametrize("is_late", [True, False])
def test_a_worker_ends_the_tasks_of_the_former_job_manager(is_late: bool) -> None:
    lines = list(real())
    until = next(at for at, line in enumerate(lines) if "Completed checkpoint 9 for" in line) + 1
    head, rest = lines[1].partition("No checkpoint")[0], lines[until:]
    restored = f"{head}Restoring job {REAL_JOB} from Checkpoint 9 @ 0 for {REAL_JOB} located at x."
    run = [line for line in lines[:until] if "taskmanager.Task " in line and "to RUNNING" in line]
    graph = re.search(r"\(([0-9a-f]{32})_", run[0])
    assert graph is not None
    start = [
        line.replace(graph[1], "e" * 32)
        for line in lines[2:40]
        if "Triggering" not in line and "ompleted" not in line
    ]
    ends = [re.sub(r"from \w+ to RUNNING", "from RUNNING to CANCELING", line) for line in run]
    ended = [line.replace("RUNNING to CANCELING", "CANCELING to CANCELED") for line in ends]
    begins = [restored, *start, *ends] if is_late else [*ends, restored, *start]
    more = [line for line in rest if "Triggering checkpoint" in line or "Completed checkpoint" in line]
    assert len(run) == 4
    assert len(more) > 100
    assert watched([*lines[:until], *begins, *ended, *more]).alarms == []


NONE = {"total": 0, "in_progress": 0, "completed": 0, "failed": 0, "restored": 0}


def of_a_new_manager(answer: dict[str, Any], **latest: Any) -> None:
    """Answers of a job manager that has just started: no checkpoint yet."""
    answer.update(history=[], counts=dict(NONE), latest=latest)


def test_a_new_job_manager_may_answer_before_it_restores() -> None:
    cluster, alarms, watch = polling()
    last = newest(cluster.answer)
    last["status"] = "IN_PROGRESS"
    cluster.answer["counts"]["in_progress"] += 1
    cluster.answer["counts"]["completed"] -= 1
    cluster.answer["latest"]["completed"]["id"] = last["id"] - 1
    watch.poll()

    of_a_new_manager(cluster.answer)
    watch.poll()
    restored = {"id": last["id"], "restore_timestamp": 1 << 50, "is_savepoint": False}
    of_a_new_manager(cluster.answer, restored=restored)
    watch.poll()  # the pending checkpoint has completed since the first answer

    assert [alarm.describe() for alarm in alarms] == []
    assert watch.polls == 3


def test_a_new_job_manager_has_nothing_to_restore_before_the_first_completion() -> None:
    cluster, alarms, watch = polling()
    of_a_new_manager(cluster.answer)
    for failed in (19, 8):
        cluster.answer["counts"].update(total=failed, failed=failed)
        watch.poll()

    assert alarms == []


def test_a_new_job_manager_that_restores_nothing_raises_an_alarm() -> None:
    cluster, alarms, watch = polling()
    watch.poll()

    of_a_new_manager(cluster.answer)
    watch.poll()
    cluster.answer["counts"].update(total=1, in_progress=1)
    watch.poll()

    assert [alarm.rule for alarm in alarms] == ["ONCE-04"]
    assert "restored nothing" in alarms[0].sentence


def test_a_new_job_manager_that_restores_an_older_checkpoint_raises_an_alarm() -> None:
    cluster, alarms, watch = polling()
    older = newest(cluster.answer)["id"] - 2
    watch.poll()
    of_a_new_manager(cluster.answer)
    watch.poll()
    restored = {"id": older, "restore_timestamp": 1 << 50, "is_savepoint": False}
    of_a_new_manager(cluster.answer, restored=restored)
    watch.poll()

    assert [alarm.rule for alarm in alarms] == ["ONCE-04"]
    assert f"{older + 2} had completed before" in alarms[0].sentence


def test_the_counts_of_a_job_manager_that_has_restored_do_not_fall_to_zero() -> None:
    cluster, alarms, watch = polling()
    restored = {"id": 1, "restore_timestamp": 1, "is_savepoint": False}
    cluster.answer["latest"]["restored"] = restored
    watch.poll()
    of_a_new_manager(cluster.answer, restored=restored)
    watch.poll()

    assert [alarm.rule for alarm in alarms] == ["COORD-07"]
    assert "nothing was restored" in alarms[0].sentence


def test_a_cluster_that_does_not_answer_is_no_alarm() -> None:
    cluster, alarms, watch = polling()
    cluster.is_lost = True
    watch.poll()
    cluster.is_lost = False
    watch.poll()
    assert (watch.polls, watch.unanswered, alarms) == (1, 1, [])


def test_a_verdict_without_a_checkpoint_is_undetermined() -> None:
    assert verdict_of(watched(real()[:10]).monitor) is Verdict.UNDETERMINED
