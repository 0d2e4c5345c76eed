"""Effects that fail a subtask, and effects that the runtime does not know, are errors; none is dropped."""

import pytest
from coordination_bench import PLAN
from test_coordination import Bench as CoordinationBench
from test_subtask_loop import Bench

from impl.config import ExecutionConfig
from impl.connectors import ParquetFiles, TwoPhaseSink
from impl.core import COMPONENTS
from impl.core.channel.events import LoseOutput, RecordRead
from impl.core.errors import ProtocolError
from impl.core.offsets.events import CommitOffsets
from impl.eventlog import Recorded
from impl.faults import ERROR
from impl.spark.channels.credits import _part
from impl.spark.channels.unaligned import OvertakingInbox
from impl.spark.errors import (
    AttemptFailedError,
    GateFailedError,
    UnknownEffectError,
)
from impl.spark.worker.launch import Launch
from impl.spark.worker.worker import Worker

LATER = {"kind": "of_a_later_version", "checkpoint": 1}


class Answers:
    """A component that answers every event with these effects."""

    def __init__(self, *effects):
        self.effects = [dict(effect) for effect in effects]

    def apply(self, event):
        return self.effects


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.inbox.close()


@pytest.mark.rule("ALIGN-20")
def test_a_gate_that_refuses_an_event_fails_the_subtask_with_its_reason(bench):
    gate = COMPONENTS["gate"]({"channels": 2, "level": "handler", "profile": "flink-1.12"})
    bench.subtask._gate = Recorded("gate", gate, None)
    barrier = {"kind": "barrier", "channel": 0, "checkpoint": 1}
    bench.subtask._at_gate(barrier)
    with pytest.raises(GateFailedError, match="delivered the barrier of checkpoint 1 twice"):
        bench.subtask._at_gate(barrier)


def test_a_failed_gate_ends_the_subtask(bench):
    bench.subtask._gate = Recorded("gate", Answers({"kind": "fail", "error": "its reason"}), None)
    bench.barrier(0, 1)
    failed = bench.ended.get(timeout=10)
    assert isinstance(failed, GateFailedError)
    assert "its reason" in str(failed)


@pytest.mark.parametrize("effect", [LATER, {"kind": "block"}, {"kind": "start_persisting", "checkpoint": 1}])
def test_an_effect_of_the_gate_that_the_runtime_does_not_know_fails_the_subtask(bench, effect):
    bench.subtask._gate = Recorded("gate", Answers(effect), None)
    bench.barrier(0, 1)
    failed = bench.ended.get(timeout=10)
    assert isinstance(failed, UnknownEffectError)
    assert effect["kind"] in str(failed)


@pytest.mark.parametrize(
    ("effect", "error"),
    [(LATER, UnknownEffectError), ({"kind": "fail", "error": "no snapshot"}, GateFailedError)],
)
def test_an_effect_of_the_snapshot_steps_is_carried_out_or_fails_the_subtask(bench, effect, error):
    bench.subtask._snapshots._recorded_steps = Recorded("subtask", Answers(effect), None)
    bench.barrier(0, 1)
    bench.barrier(1, 1)
    assert isinstance(bench.ended.get(timeout=10), error)


@pytest.mark.parametrize(
    ("effect", "error"),
    [
        (LATER, UnknownEffectError),
        ({"kind": "trigger_task", "task": "in-0"}, UnknownEffectError),
        ({"kind": "trigger_hook", "name": "h", "checkpoint": 1}, UnknownEffectError),
        ({"kind": "fail", "error": "IllegalStateException"}, AttemptFailedError),
    ],
)
def test_an_effect_of_the_coordinator_is_carried_out_or_ends_the_attempt(effect, error):
    bench = CoordinationBench()
    bench.start()
    with pytest.raises(error, match=str(effect.get("error", effect["kind"]))):
        bench.it._carry_out(effect)


def test_effects_of_the_coordinator_that_ask_for_nothing_are_carried_out_in_silence():
    nothing = ("acknowledged", "notify_subsumed")
    bench = CoordinationBench()
    bench.start()
    for kind in nothing:
        bench.it._carry_out({"kind": kind, "task": "in-0", "checkpoint": 1})
    assert bench.heard() == []


def test_ends_of_channels_say_nothing_that_is_dropped():
    assert _part((LoseOutput(1),), 2) is None
    with pytest.raises(UnknownEffectError, match="CommitOffsets"):
        _part((CommitOffsets(1, 2),), 1)
    inbox = OvertakingInbox(1, 4, lambda channel, frames: None)
    with pytest.raises(UnknownEffectError, match="RecordRead"):
        inbox._store(0, [RecordRead(b"")])


def test_an_effect_of_the_sink_that_is_not_its_own_is_an_error(tmp_path):
    sink, _ = TwoPhaseSink.restored(ParquetFiles(tmp_path, subtask="sink-0", attempt=1), None)
    with pytest.raises(ProtocolError, match="came CommitOffsets"):
        sink._do((CommitOffsets(1, 2),))


@pytest.mark.parametrize("action", [ERROR, "of-a-later-version"])
def test_a_strike_that_a_process_cannot_do_fails_its_subtask(action):
    launch = Launch(
        plan=PLAN,
        lineage="",
        attempt=1,
        host="127.0.0.1",
        port=1,
        secret=b"",
        execution=ExecutionConfig(),
        max_concurrent=1,
        mode="exactly-once",
        alignment_timeout_ms=0,
        epoch=0,
        checkpoints=None,
        inline_bytes=0,
        events=None,
    )
    worker = Worker(launch, PLAN.subtasks()[0])
    strike = {"do": "strike", "action": action, "point": "anywhere"}
    worker._obey(strike)
    assert worker._inbox.take((), 0) == strike
