"""One subtask without its thread: the test calls its loop for each frame and each message."""

import queue

from impl.graph.plan import Route
from impl.spark.channels.frames import Kind, pack_id, pack_rows, unpack_id, unpack_rows
from impl.spark.channels.inbox import Inbox
from impl.spark.channels.messages import CheckpointAborted, CheckpointCompleted, SnapshotFailed
from impl.spark.channels.outputs import Outputs
from impl.spark.savepoints.savepoint_options import KnownSavepoints
from impl.spark.snapshots.writer import TaskSnapshotFiles
from impl.spark.worker.context import TaskContext
from impl.spark.worker.subtask import RunningSubtask
from tests.memory_storage import MemoryStorage


class SentFrames(list):
    """A channel that records its output: single rows, and (kind, id) of barriers and cancellations."""

    def send(self, kind, payload=b""):
        if kind is Kind.RECORDS:
            self.extend(unpack_rows(payload))
        else:
            self.append((kind, unpack_id(payload)) if payload else kind)


class OneSubtask:
    """A subtask with `channels` inputs. `restored`: the checkpoint that its operator was restored from."""

    def __init__(self, operator, channels=1, restored=None, outputs=Outputs):
        self.sent, self.reports = SentFrames(), queue.Queue()
        self.inbox, self.storage = Inbox(channels, 10), MemoryStorage()
        savepoints = KnownSavepoints()
        context = TaskContext(
            task="task-0",
            attempt=1,
            upstream=tuple(f"in-{channel}" for channel in range(channels)),
            inbox=self.inbox,
            outputs=outputs({"below-0": self.sent}, [Route(("below-0",))], 100),
            storage=TaskSnapshotFiles("task-0", 1, self.storage, savepoints),
            report=self.reports.put,
            mode="exactly-once",
            savepoints=savepoints,
            restored=restored,
        )
        self.subtask = RunningSubtask(context, operator, (0,) * channels)
        self.outputs = context.outputs

    def rows(self, *rows, channel=0):
        self.subtask.read_frame(channel, (Kind.RECORDS, pack_rows(rows)))

    def barrier(self, checkpoint, channel=0, options=b""):
        self.subtask.read_frame(channel, (Kind.BARRIER, pack_id(checkpoint) + options))

    def end(self, channel=0):
        self.subtask.read_frame(channel, (Kind.END_OF_DATA, b""))

    def snapshot(self):
        """Waits until the begun snapshot is stored. Returns its sections, or the reason why it failed."""
        written = self.inbox.take((), 60)
        self.subtask.read_mail(written)
        if isinstance(written, SnapshotFailed):
            return written.cause
        return self.storage.open(written.handle)

    def completed(self, checkpoint):
        self.subtask.read_mail(CheckpointCompleted(checkpoint))

    def aborted(self, checkpoint, completed=-1):
        self.subtask.read_mail(CheckpointAborted(checkpoint, completed))
