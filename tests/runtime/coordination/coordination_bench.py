"""A coordination on the driver and what stands around it: two tasks, a desk, a clock of our own, no Spark."""

from pathlib import Path

import pyarrow as pa

from impl.config import CheckpointConfig
from impl.connectors import ParquetOutput
from impl.faults import FaultLedger
from impl.graph.plan import Edge, Plan, Role, Stage
from impl.savepoints import SavepointDesk
from impl.spark.coordination.coordination import Coordination
from impl.spark.savepoints.savepoints import Savepoints
from impl.state import FileSystemStorage, encode, savepoints_in

OUTPUT = ParquetOutput(Path("nothing is written there"), pa.schema({"n": pa.int64()}))
PLAN = Plan("job", (Stage("in", Role.SOURCE, None), Stage("out", Role.SINK, OUTPUT)), (Edge("in", "out"),))
TASKS = ("in-0", "out-0")


class Bench:
    """A coordination with a desk: what it says to whom, and a clock that the test moves."""

    def __init__(self, folder, **config):
        self.now = 0.0
        self.said = []
        self.storage = FileSystemStorage(folder / "checkpoints")
        self.folder = folder / "savepoints"
        self.desk = SavepointDesk(folder / "requests")
        settings = CheckpointConfig(**{"checkpointing_interval_ms": 1_000, **config})
        savepoints = Savepoints(self.desk, self.folder, "11ea9e00", PLAN, self.storage)
        self.it = Coordination(
            PLAN,
            settings,
            self.storage,
            FaultLedger(()),
            None,
            lambda: self.now,
            lambda: 5,
            savepoints=savepoints,
        )

    def start(self):
        restored = self.begin()
        self.run()
        return restored

    def begin(self):
        self.attempt = self.storage.new_attempt()
        restored, _ = self.it.begin_attempt(
            self.attempt, lambda task, message: self.said.append((task, message))
        )
        return restored

    def run(self):
        for task in TASKS:
            self.it.running(task)

    def pass_ms(self, ms=1):
        self.now += ms / 1_000
        self.it.tick()
        return self.heard()

    def acknowledge(self, checkpoint, *tasks):
        there = self.storage
        if self.folder.is_dir() and (found := savepoints_in(self.folder)):
            there = found[-1] if f"-{checkpoint}-" in found[-1].directory.name else there
        for task in tasks or TASKS:
            handle = there.write(checkpoint, task, self.attempt, encode(f"{task} at {checkpoint}"))
            self.it.acknowledge(task, checkpoint, handle.to_json())
        return self.heard()

    def heard(self):
        said, self.said = self.said, []
        return [
            (task, message["do"], message["checkpoint"]) for task, message in said if "checkpoint" in message
        ]
