"""Broken implementations of classes that no edit of the catalogue stands for; a word names each.

Gates of the reference model, mode exactly-once, profile flink-1.14, level handler:
remembers-N         after N late barriers in a row on channel 1, while only channel 0 is blocked, the end of
                    channel 1 loses its trigger
ages-N              the N-th completed checkpoint resumes no channel
leaks, slows        each completed checkpoint keeps 4 kB, makes every later answer slower
crashes, hangs      at the third cancellation
flickers            one trigger in fifty is lost, by chance
misspells-W         W of `hello` is misspelt: component, mode, profile, capability

The bundled sink and store, once killed: loses-commits has lost the newest commit, loses-newest the newest
checkpoint. `components`, for `--adapter module:attribute`: a coordinator and a subtask without a lock.
"""

import os
import random
import sys
import threading
import time
from pathlib import Path

from conformance.adapters.bundled import Bundled
from conformance.adapters.in_process import InProcess, ModelInstance
from conformance.adapters.protocol import Hello, Offer
from conformance.adapters.serve import serve
from impl.state.checkpoint_storage import CheckpointStorage
from model.components import COMPONENTS, WireError

GATE = Offer(("exactly-once",), ("flink-1.14",), ("handler",))


class Gate(ModelInstance):
    def __init__(self, how, config):
        super().__init__(COMPONENTS["gate"], config)
        self.how, _, number = how.partition("-")
        self.number = int(number) if number.isdecimal() else 0
        self.late = self.completed = self.cancelled = 0
        self.kept = []

    def apply(self, event):
        before = self.observe()
        effects = list(super().apply(event))
        return getattr(self, self.how)(event, before, effects) if hasattr(self, self.how) else effects

    def remembers(self, event, before, effects):
        armed = self.late >= self.number
        is_late = event["kind"] == "barrier" and event["checkpoint"] < before["current"]
        again = is_late and event["channel"] == 1 and before["blocked"] == [0]
        self.late = self.late + 1 if again else 0
        lost = armed and event["kind"] == "end_of_partition" and event["channel"] == 1
        return [effect for effect in effects if not lost or effect["kind"] != "trigger"]

    def ages(self, event, before, effects):
        self.completed += any(effect["kind"] == "trigger" for effect in effects)
        lost = self.completed == self.number
        return [effect for effect in effects if not lost or effect["kind"] != "resume"]

    def leaks(self, event, before, effects):
        self.kept += [bytes(4096) for effect in effects if effect["kind"] == "trigger"]
        return effects

    def slows(self, event, before, effects):
        self.kept += [0 for effect in effects if effect["kind"] == "trigger"]
        sum(self.kept)
        return effects

    def crashes(self, event, before, effects):
        self.cancelled += event["kind"] == "cancel"
        if self.cancelled == 3:
            os._exit(3)
        return effects

    def hangs(self, event, before, effects):
        self.cancelled += event["kind"] == "cancel"
        if self.cancelled == 3:
            threading.Event().wait()
        return effects

    def flickers(self, event, before, effects):
        lost = random.random() < 0.02  # by chance, on purpose: the suite has to notice it
        return [effect for effect in effects if not lost or effect["kind"] != "trigger"]


class Gates(InProcess):
    def __init__(self, how):
        super().__init__(how, {"gate": lambda config: Gate(how, config)}, (WireError,))
        self.how = how

    def hello(self):
        component, offer = "gate", GATE
        match self.how:
            case "misspells-component":
                component = "gates"
            case "misspells-mode":
                offer = GATE._replace(modes=("exactly_once",))
            case "misspells-profile":
                offer = GATE._replace(profiles=("flink1.14",))
            case "misspells-capability":
                offer = GATE._replace(capabilities=("handlers",))
        return Hello(self.how, "1", "python", {component: offer})


class Lossy(Bundled):
    def __init__(self, component):
        super().__init__()
        self.component = component

    def hello(self):
        hello = super().hello()
        return hello._replace(components={self.component: hello.components[self.component]})

    def new_in(self, component, config, folder):
        if component == "store":
            storage = CheckpointStorage(Path(folder) / "checkpoints")
            for checkpoint in sorted(storage.completed_ids())[-1:]:
                storage.discard(checkpoint)
        manifests = sorted((Path(folder) / "output" / "manifests").glob("*.json"))
        for file in manifests[-1:]:
            file.unlink()
        return super().new_in(component, config, folder)


class Unlocked:
    capabilities = ("concurrent",)

    def __init__(self, component, config):
        self.component = COMPONENTS[component]
        self.state = self.component.new(config)

    def apply(self, event):
        after, effects, _ = self.component.apply(self.state, event)
        time.sleep(0.001)  # another thread can change the same state here
        self.state = after
        return effects

    def observe(self):
        return self.component.observe(self.state)


class Coordinator(Unlocked):
    def __init__(self, config):
        super().__init__("coordinator", config)


class Subtask(Unlocked):
    def __init__(self, config):
        super().__init__("subtask", config)


components = {"coordinator": Coordinator, "subtask": Subtask}
LOSSY = {"loses-commits": "sink", "loses-newest": "store"}

if __name__ == "__main__":
    WORD = sys.argv[1]
    adapter = Lossy(LOSSY[WORD]) if WORD in LOSSY else Gates(WORD)
    serve(adapter, sys.stdin.buffer, sys.stdout.buffer)
