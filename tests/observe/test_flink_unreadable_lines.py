"""Reports each line about checkpoints in a Flink log that cannot be read; such a log is never CONFORMS."""

import gzip
import tracemalloc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import orjson
import pytest

from conformance.cli import run
from conformance.observe.flink import FlinkResult, read_lines, validate_flink
from conformance.observe.flink.errors import TooLargeError
from conformance.observe.flink.reading import read_log
from conformance.observe.flink.records import LONGEST_LINE, Record, lines_of
from conformance.observe.flink.unreadable import broken, unreadable
from conformance.verdict import Exit, Verdict

LOGS = Path(__file__).parent / "logs"
RUNTIME = "org.apache.flink.runtime"
TASKS = "org.apache.flink.streaming.runtime.tasks"
TIME = "08:30:00,000 DEBUG"
JOB = "0123456789abcdef0123456789abcdef"


@cache
def log() -> tuple[str, ...]:
    return tuple(read_lines(str(LOGS / "flink-2.2.1.log.gz")))


def with_line(line: str, at: int = 2000) -> FlinkResult:
    return validate_flink([*log()[:at], line, *log()[at:]])


COORDINATOR = f"{TIME} {RUNTIME}.checkpoint.CheckpointCoordinator [jobmanager-io-thread-1]"


@pytest.mark.parametrize(
    "line",
    [
        f"{COORDINATOR} Received acknowledge message for checkpoint x from task {JOB} of job {JOB} at here.",
        f"{COORDINATOR} Received acknowledge message for checkpoint {'9' * 30} from task {JOB} of job {JOB}.",
        f"{COORDINATOR} Received acknowledge message for checkp",
        f"{COORDINATOR} Recieved acknowledge message for checkpoint 7 from task {JOB} of job {JOB} at here.",
        f"{COORDINATOR} Promoted checkpoint 7.",
        f"{COORDINATOR} ",
        f"{TIME} {RUNTIME}.checkpoint.CheckpointCo",
        f"{TIME} {RUNTIME}.checkpoint.CheckpointCoordinator [jobmanager-io-th",
        "08:30:00,000 DEB",
        f"{TIME} {RUNTIME}.checkpoint.CheckpointCoordinater [thread] Completed checkpoint 7 for job {JOB}.",
        f"\x00\x00 DEBUG {RUNTIME}.checkpoint.CheckpointCoordinator [thread] Completed checkpoint 7 for job",
        f"08:30:00,000 [thread] DEBUG {RUNTIME}.checkpoint.CheckpointCoordinator - Completed checkpoint 7",
        f"{TIME} {RUNTIME}.taskmanager.Task [a (1/2)#0] a (1/2)#0 ({JOB}) switched from RUNNING to DONE.",
        f"{TIME} {RUNTIME}.taskmanager.Task [a (1/2)#0] a (1/2)#0 ({JOB}) swi",
        f"{TIME} {RUNTIME}.executiongraph.ExecutionGraph [t] Job j ({JOB}) switched from state RUNNING to X.",
        f"{TIME} {TASKS}.StreamTask [t] Starting checkpoint ? CHECKPOINT on task a (1/2)#0",
        f"{TIME} {TASKS}.AsyncCheckpointRunnable [t] a (1/2)#0 - finished",
        "08:30:",
        "08:30:00,00",
        f"{TIME} {RUNTIME}.checkpointCheckpointCoordinator [t] Received message for an unknown checkpoint 3",
        f"{TIME} {RUNTIME}.taskmanagerTask [t] a (1/2)#0 ({JOB}) switched from RUNNING to FINISHED.",
        f"{TIME} {TASKS}.AsyncCheckpoin(Runnable [t] a (1/2)#0 - finished asynchronous part of checkpoint 3.",
        f"{TIME} {RUNTIME}.checkpoint.CheckpointCoordi\ufffdator [t] Completed checkpoint 7 for job {JOB}",
    ],
)
def test_a_line_that_cannot_be_read(line: str) -> None:
    result = with_line(line)
    assert [one.number for one in result.unreadable] == [2001]
    assert result.verdict is Verdict.UNDETERMINED
    assert "line 2001 cannot be read: expected" in result.describe()


@pytest.mark.parametrize(
    "line",
    [
        "\tat org.apache.flink.runtime.checkpoint.CheckpointCoordinator.abort(CheckpointCoordinator.java:1)",
        "Caused by: org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before.",
        f"{TIME} {RUNTIME}.taskmanager.Task [t] Freeing task resources for A to B switched (1/2)#0 ({JOB}).",
        f"{TIME} {RUNTIME}.taskmanager.Task [t] Loading JAR files for task a (1/2)#0 ({JOB}) [DEPLOYING].",
        f"{COORDINATOR} Stopping checkpoint coordinator for job {JOB}.",
        f"{COORDINATOR} Checkpoint 7 size: 4Kb, duration: 9ms",
        f"{TIME} org.apache.flink.streaming.runtime.tasks.StreamTask [t] Finished task a (1/2)#0",
        f"{TIME} org.example.MyTasks [t] Completed checkpoint x for job y",
        "08:30:00,000 INFO /opt/flink/worker.py:12 [] - Task started",
        "08:30:00,000 was the time of the next meal",
        "08",
        "2026-11-23",
        f"{TIME} org.example.my-logger/1 [t] Completed checkpoint x for job y",
        f"{TIME} org.example.MyTask [t] a (1/2)#0 ({JOB}) switched from RUNNING to FINISHED.",
    ],
)
def test_a_line_of_another_subject_is_not_unreadable(line: str) -> None:
    result = with_line(line)
    assert result.unreadable == ()
    assert result.verdict is Verdict.CONFORMS


def test_the_command_ends_with_2_and_names_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, found = tmp_path / "job.log", tmp_path / "found.json"
    line = (
        f"{COORDINATOR} Received acknowledge message for checkpoint x from task {JOB} of job {JOB} at here."
    )
    file.write_text("".join(f"{one}\n" for one in (*log()[:2000], line, *log()[2000:])))
    assert run(["trace", "flink", str(file), "--json", str(found)]) == Exit.UNDETERMINED
    assert "line 2001 cannot be read" in " ".join(capsys.readouterr().out.split())
    (finding,) = orjson.loads(found.read_bytes())["parts"][0]["findings"]
    assert (finding["file"], finding["row"]) == (str(file), 2001)


def test_what_is_rejected_behind_an_unreadable_line_is_no_divergence() -> None:
    place = next(at for at, line in enumerate(log()) if "Received acknowledge" in line)
    garbled = log()[place].replace("for checkpoint 1 ", "for checkpoint l ")
    result = validate_flink([*log()[:place], garbled, *log()[place + 1 :]])
    assert result.rejection is not None
    assert result.verdict is Verdict.UNDETERMINED
    assert "perhaps because of it" in result.describe()


def test_what_is_rejected_before_an_unreadable_line_diverges() -> None:
    place = next(at for at, line in enumerate(log()) if "Received acknowledge" in line)
    doubled = [
        *log()[: place + 1],
        log()[place],
        *log()[place + 1 :],
        f"{COORDINATOR} Completed checkpoint x",
    ]
    result = validate_flink(doubled)
    assert result.unreadable
    assert result.verdict is Verdict.DIVERGES


# ---------------------------------------------------------------- limits


def packed(folder: Path, lines: Iterator[bytes]) -> str:
    file = folder / "job.log.gz"
    with gzip.open(file, "wb") as archive:
        archive.writelines(lines)
    return str(file)


def test_an_archive_that_unpacks_to_far_more_than_a_log(tmp_path: Path) -> None:
    file = packed(
        tmp_path, (b"08:30:00,000 INFO x [t] y\n" + (b"x" * 99_999 + b"\n") * 10 for _ in range(100))
    )
    tracemalloc.start()
    with pytest.raises(
        TooLargeError, match=r"expected an archive that unpacks to at most 200 times its size"
    ):
        read_log(lines_of(file))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_line_without_end(tmp_path: Path) -> None:
    file = tmp_path / "job.log"
    file.write_bytes(b"x" * (LONGEST_LINE + 1))
    with pytest.raises(TooLargeError, match=r"job\.log:1: expected lines of at most"):
        read_log(lines_of(str(file)))
    assert run(["trace", "flink", str(file)]) == Exit.USAGE


def test_more_lines_of_the_protocol_than_are_kept() -> None:
    with pytest.raises(TooLargeError, match=r"expected at most 100 lines.*--max-lines"):
        read_log(log(), 100)


def test_a_log_is_read_as_a_stream() -> None:
    lines = (f"{TIME} org.example.Job [t] nothing {number}" for number in range(30_000))
    tracemalloc.start()
    read = read_log(lines)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.total == 30_000
    assert peak < 1 << 20


def test_a_record_of_another_logger_is_ignored() -> None:
    assert unreadable(Record(1, "org.example.Tasks", "t", "Completed checkpoint x")) is None
    assert broken(1, "") is None
