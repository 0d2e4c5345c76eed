"""A log that cannot be checked is refused with what to do.

The exit codes of the command distinguish the cases.
"""

import gzip
import io
from functools import cache
from pathlib import Path

import pytest

from conformance.cli import run
from conformance.observe.flink import FlinkLogError, UnjudgedError, read_lines, validate_flink
from conformance.observe.flink.errors import (
    MissingLevelsError,
    NotAFlinkLogError,
    ReleaseTooOldError,
    SeveralJobsError,
    TruncatedLogError,
)

LOGS = Path(__file__).parent / "logs"


@cache
def log(name: str = "flink-2.2.1") -> tuple[str, ...]:
    return tuple(read_lines(str(LOGS / f"{name}.log.gz")))


def written(lines: list[str] | tuple[str, ...], folder: Path) -> str:
    file = folder / "job.log"
    file.write_text("".join(f"{line}\n" for line in lines))
    return str(file)


# ---------------------------------------------------------------- what is refused


def test_a_packed_file_that_breaks_off(tmp_path: Path) -> None:
    file = tmp_path / "job.log.gz"
    file.write_bytes((LOGS / "flink-2.2.1.log.gz").read_bytes()[:20_000])
    with pytest.raises(TruncatedLogError, match=r"expected a whole gzip file.*fetch it again"):
        read_lines(str(file))


def test_a_last_line_that_breaks_off(tmp_path: Path) -> None:
    file = tmp_path / "job.log"
    file.write_text("\n".join(log()))
    with pytest.raises(TruncatedLogError, match=r"job\.log:3879: expected the last line to end"):
        read_lines(str(file))


def test_a_rolled_log_without_its_beginning() -> None:
    with pytest.raises(TruncatedLogError, match=r"expected the log to begin before the job ran.*older files"):
        validate_flink(log()[700:])


@pytest.mark.parametrize(
    ("kept_out", "needed"),
    [
        ("CheckpointCoordinator", "org.apache.flink.runtime.checkpoint at DEBUG"),
        ("StreamTask", "org.apache.flink.streaming.runtime.tasks at DEBUG"),
        ("SingleCheckpointBarrierHandler", "org.apache.flink.streaming.runtime.io at DEBUG"),
        ("ExecutionGraph", "org.apache.flink.runtime.executiongraph at INFO"),
    ],
)
def test_a_log_without_a_needed_logger(kept_out: str, needed: str) -> None:
    lines = [line for line in log() if f".{kept_out} [" not in line]
    with pytest.raises(MissingLevelsError, match=needed):
        validate_flink(lines)


def test_a_log_at_info() -> None:
    with pytest.raises(MissingLevelsError, match="set logger"):
        validate_flink([line for line in log() if " DEBUG " not in line])


@pytest.mark.parametrize(
    "line",
    [
        "DEBUG org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinatorImpl [t (1/1)#0] "
        "Notification of complete checkpoint for task t (1/1)#0",
        "DEBUG org.apache.flink.streaming.runtime.io.SingleCheckpointBarrierHandler [t (1/1)#0] "
        f"t (1/1)#0 ({'a' * 32}): Received barrier from channel "
        "InputChannelInfo{gateIdx=0, inputChannelIdx=0} @ 7.",
        "DEBUG org.apache.flink.streaming.runtime.io.CheckpointBarrierAligner [t (1/1)#0] "
        "t (1/1)#0: Received barrier from channel 0.",
    ],
)
def test_a_release_before_1_13(line: str) -> None:
    with pytest.raises(ReleaseTooOldError, match=r"expected a log of Flink 1.13 or newer"):
        validate_flink([*log(), f"08:30:00,000 {line}"])


def test_two_jobs_in_one_log() -> None:
    other = [line.replace("19f16afe15f1e91c8c2031f64b0fc9fb", "0" * 32) for line in log()]
    with pytest.raises(SeveralJobsError, match=r"it is of 2: 0{32}, 19f16"):
        validate_flink([*log(), *other])


@pytest.mark.parametrize("lines", [[], [""], ["hello"] * 5, ["no log at all"] * 2000])
def test_no_log(lines: list[str]) -> None:
    with pytest.raises(NotAFlinkLogError, match="expected lines such as"):
        validate_flink(lines)


def test_a_log_with_an_unaligned_checkpoint_is_not_checked() -> None:
    lines = [
        line.replace("is unaligned checkpoint : false", "is unaligned checkpoint : true") for line in log()
    ]
    with pytest.raises(UnjudgedError, match="checkpoint 1 is unaligned"):
        validate_flink(lines)


def test_a_log_with_a_stop_with_savepoint_is_not_checked() -> None:
    lines = [line.replace("name='Checkpoint'", "name='Terminate Savepoint'") for line in log()]
    with pytest.raises(UnjudgedError, match="is a stop-with-savepoint"):
        validate_flink(lines)


def test_every_refusal_is_a_log_error() -> None:
    refusals = (
        NotAFlinkLogError,
        TruncatedLogError,
        MissingLevelsError,
        ReleaseTooOldError,
        SeveralJobsError,
    )
    assert all(issubclass(refusal, FlinkLogError) for refusal in refusals)


# ---------------------------------------------------------------- the command


def test_accepted_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", "flink", str(LOGS / "flink-2.2.1.log.gz")]) == 0
    out = capsys.readouterr().out
    assert "CONFORMS" in out
    assert "51  checkpoint completed" in out
    assert "order is trusted within one thread only" in out


def test_rejected_is_1_with_line_rule_and_guard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = next(number for number, line in enumerate(log()) if "Completed checkpoint 7 " in line)
    file = written([*log()[: place + 1], log()[place], *log()[place + 1 :]], tmp_path)
    assert run(["trace", "flink", file]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"DIVERGES line {place + 2}: COORD-07: checkpoint 7 is reported as completed a second time" in out
    assert "Completed checkpoint 7 for job" in out


def test_under_covered_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(LOGS / "flink-2.2.1.log.gz")
    assert run(["trace", "flink", file, "--require", "restored from a checkpoint"]) == 2
    assert "these situations were not seen: restored from a checkpoint" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_log_that_is_not_checked_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        line.replace("is unaligned checkpoint : false", "is unaligned checkpoint : true") for line in log()
    ]
    assert run(["trace", "flink", written(lines, tmp_path)]) == 2
    assert "UNDETERMINED" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nothing-there.log"], [], ["--require", "reboot", "FILE"]])
def test_usage_is_64(arguments: list[str]) -> None:
    given = [str(LOGS / "flink-2.2.1.log.gz") if word == "FILE" else word for word in arguments]
    assert run(["trace", "flink", *given]) == 64


def test_unreadable_is_64_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", "flink", written(log()[700:], tmp_path)]) == 64
    assert "prepend the older files" in capsys.readouterr().err


def test_corruptions_are_listed_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["trace", "flink", str(LOGS / "flink-1.13.6-fail.log.gz"), "--corruptions", "--seed", "5"]) == 0
    )
    out = capsys.readouterr().out
    assert "36 of 36 corruptions rejected for their own reason; not observable here: 6" in out
    assert "a broadcast removed" in out
    assert "ACCEPTED" not in out


def test_stdin_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = gzip.decompress((LOGS / "flink-1.13.6-fail.log.gz").read_bytes()).decode()
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert run(["trace", "flink", "-"]) == 0
    assert "38  checkpoint completed" in capsys.readouterr().out


def test_folders_are_still_event_logs(tmp_path: Path) -> None:
    assert run(["trace", str(tmp_path)]) == 2
