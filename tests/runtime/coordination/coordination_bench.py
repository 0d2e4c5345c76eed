"""The driver's side of a job with two tasks and a desk for requests. The test moves the clock; no Spark."""

from pathlib import Path

import pyarrow as pa

from impl.config import CheckpointConfig
from impl.connectors import ParquetOutput
from impl.graph.plan import Edge, Plan, Role, Stage
from impl.savepoints import SavepointRequests
from impl.spark.channels.messages import CheckpointAborted, CheckpointCompleted, StartCheckpoint
from impl.spark.coordination.checkpoint_publisher import CheckpointPublisher
from impl.spark.coordination.context import JobContext
from impl.spark.coordination.coordination import Coordination
from impl.spark.savepoints.job_savepoints import Savepoints
from impl.state import CheckpointStorage, encode, savepoints_in

OUTPUT = ParquetOutput(Path("nothing is written there"), pa.schema({"n": pa.int64()}))
PLAN = Plan("job", (Stage("in", Role.SOURCE, None), Stage("out", Role.SINK, OUTPUT)), (Edge("in", "out"),))
TASKS = ("in-0", "out-0")


KINDS = {StartCheckpoint: "trigger", CheckpointCompleted: "complete", CheckpointAborted: "abort"}


def coordination_of(context, savepoints=None, files=None):
    """A coordination; without `savepoints`, it takes no requests for them."""
    plan, storage = context.plan, context.storage
    savepoints = savepoints or Savepoints(SavepointRequests(), Path(), "", plan, storage)
    return Coordination(context, files or CheckpointPublisher(storage, savepoints, plan.max_parallelism))


class Bench:
    """A coordination with requests. It records the commands sent, and the test moves its clock."""

    def __init__(self, folder, **config):
        self.now = 0.0
        self.sent = []
        self.storage = CheckpointStorage(folder / "checkpoints")
        self.folder = folder / "savepoints"
        self.requests = SavepointRequests(folder / "requests")
        settings = CheckpointConfig(**{"checkpointing_interval_ms": 1_000, **config})
        savepoints = Savepoints(self.requests, self.folder, "11ea9e00", PLAN, self.storage)
        context = JobContext(PLAN, settings, self.storage, None, lambda: self.now, lambda: 5)
        self.it = coordination_of(context, savepoints)

    def start(self):
        restored = self.begin()
        self.run()
        return restored

    def begin(self):
        self.attempt = self.storage.new_attempt()
        restored, _ = self.it.begin_attempt(self.attempt, lambda *sent: self.sent.append(sent))
        return restored

    def run(self):
        for task in TASKS:
            self.it.running(task)

    def pass_ms(self, ms=1):
        self.now += ms / 1_000
        self.it.tick()
        return self.commands()

    def acknowledge(self, checkpoint, *tasks):
        there = self.storage
        if self.folder.is_dir() and (found := savepoints_in(self.folder)):
            there = found[-1] if f"-{checkpoint}-" in found[-1].where.name else there
        for task in tasks or TASKS:
            handle = there.write(checkpoint, task, self.attempt, encode(f"{task} at {checkpoint}"))
            self.it.acknowledge(task, handle)
        return self.commands()

    def commands(self):
        sent, self.sent = self.sent, []
        return [(task, KINDS[type(one)], one.checkpoint) for task, one in sent if type(one) in KINDS]
