"""Each effect is carried out or fails the subtask. An effect that the runtime does not expect is an error."""

import pytest
from coordination_bench import PLAN
from test_coordination import Bench as CoordinationBench
from test_subtask_loop import Bench

from impl.config import ExecutionConfig
from impl.connectors import ParquetFiles, TwoPhaseSink
from impl.core.channel.events import LoseOutput, RecordRead
from impl.core.coordinator.events import (
    Acknowledged,
    AcknowledgeResult,
    NotifyTaskSubsumed,
    Restored,
    TriggerHook,
)
from impl.core.effects import Fail
from impl.core.errors import ProtocolError
from impl.core.gate.aligned import AlignedGate
from impl.core.gate.events import Barrier, Process
from impl.core.gate.profiles import PROFILES
from impl.core.gate.unaligned_events import StartPersisting
from impl.core.offsets.events import CommitOffsets
from impl.eventlog import Recorded
from impl.faults import Action, FaultPlan
from impl.spark.channels.credits import _overtaken
from impl.spark.channels.handshake import Credentials
from impl.spark.channels.messages import InjectFault, TaskFailed
from impl.spark.channels.overtaking_channels import OvertakingInbox
from impl.spark.errors import (
    AttemptFailedError,
    FrameError,
    GateFailedError,
    InjectedFaultError,
    UnknownEffectError,
)
from impl.spark.faults.worker import FaultyWorker
from impl.spark.worker.launch import Launch
from impl.spark.worker.worker import Worker

UNEXPECTED = CommitOffsets(1, 2)
"""An effect of another component, as one that is added and that nobody carries out."""


class Answers:
    """A component that answers every event with these effects."""

    def __init__(self, *effects):
        self.effects = effects

    def handle(self, event):
        return self.effects


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.inbox.close()


@pytest.mark.rule("ALIGN-20")
def test_a_gate_that_refuses_an_event_fails_the_subtask_with_its_reason(bench):
    gate = Recorded("gate", AlignedGate(2, PROFILES["flink-1.12"]), None)
    bench.subtask._at_gate(gate, Barrier(0, 1))
    with pytest.raises(GateFailedError, match="barrier of checkpoint 1 twice"):
        bench.subtask._at_gate(gate, Barrier(0, 1))


@pytest.mark.parametrize(
    ("effect", "error"),
    [
        (Fail("its reason"), GateFailedError),
        (Process(0, "a record"), UnknownEffectError),
        (StartPersisting(1), UnknownEffectError),
        (UNEXPECTED, AssertionError),
    ],
)
def test_an_effect_of_the_gate_is_carried_out_or_fails_the_subtask(bench, effect, error):
    with pytest.raises(error, match=r"its reason|Process|StartPersisting|CommitOffsets"):
        bench.subtask._at_gate(Recorded("gate", Answers(effect), None), Barrier(0, 1))


def test_a_failed_gate_ends_the_subtask(bench):
    bench.subtask._in_order = Recorded("gate", Answers(Fail("its reason")), None)
    bench.barrier(0, 1)
    failed = bench.ended.get(timeout=60)
    assert isinstance(failed, GateFailedError)
    assert "its reason" in str(failed)


@pytest.mark.parametrize(
    ("effect", "error"), [(UNEXPECTED, AssertionError), (Fail("no snapshot"), GateFailedError)]
)
def test_an_effect_of_the_snapshot_steps_is_carried_out_or_fails_the_subtask(bench, effect, error):
    with pytest.raises(error, match=r"no snapshot|CommitOffsets"):
        bench.subtask._snapshots.carry_out(effect)


@pytest.mark.parametrize(
    ("effect", "error"),
    [
        (UNEXPECTED, AssertionError),
        (Restored(1), UnknownEffectError),
        (TriggerHook("h", 1), UnknownEffectError),
        (Fail("IllegalStateException"), AttemptFailedError),
    ],
)
def test_an_effect_of_the_coordinator_is_carried_out_or_ends_the_attempt(effect, error):
    bench = CoordinationBench()
    bench.start()
    with pytest.raises(error, match=str(getattr(effect, "error", type(effect).__name__))):
        bench.it._carry_out(effect)


def test_effects_of_the_coordinator_that_demand_nothing_send_no_command():
    bench = CoordinationBench()
    bench.start()
    bench.it._carry_out(Acknowledged("in-0", 1, AcknowledgeResult.SUCCESS))
    bench.it._carry_out(NotifyTaskSubsumed("in-0", 1))
    assert bench.commands() == []


def test_no_effect_of_the_end_of_a_channel_is_dropped():
    assert _overtaken((LoseOutput(1),), 2) is None
    with pytest.raises(AssertionError, match="CommitOffsets"):
        _overtaken((UNEXPECTED,), 1)
    inbox = OvertakingInbox(1, 4, lambda channel, frames: None)
    with pytest.raises(AssertionError, match="RecordRead"):
        inbox._store(0, [RecordRead(b"")])


def test_an_effect_of_the_sink_that_is_not_its_own_is_an_error(tmp_path):
    sink, _ = TwoPhaseSink.restored(ParquetFiles(tmp_path, subtask="sink-0", attempt=1), None)
    with pytest.raises(ProtocolError, match="got CommitOffsets"):
        sink._do((UNEXPECTED,))


LAUNCH = Launch(
    plan=PLAN,
    lineage="",
    credentials=Credentials(b"", 1),
    driver=("127.0.0.1", 1),
    execution=ExecutionConfig(),
    max_concurrent=1,
    mode="exactly-once",
    alignment_timeout_ms=0,
    checkpoints=None,
    inline_bytes=0,
    events=None,
)


@pytest.mark.parametrize("action", [Action.ERROR, "of-a-later-version"])
def test_a_fault_that_a_process_cannot_do_to_itself_fails_its_subtask(action):
    worker = FaultyWorker(LAUNCH, PLAN.subtasks()[0], ((0, FaultPlan("barrier-due")),))
    worker._carry_out(InjectFault(action, "anywhere"))
    mail = worker._inbox.take((), 0)
    assert isinstance(mail, TaskFailed)
    assert isinstance(mail.error, InjectedFaultError)
    assert "anywhere" in str(mail.error)


def test_a_worker_without_planned_faults_refuses_one():
    with pytest.raises(FrameError, match="expected no fault"):
        Worker(LAUNCH, PLAN.subtasks()[0])._carry_out(InjectFault(Action.ERROR, "anywhere"))
