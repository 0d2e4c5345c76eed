"""A sink that commits at its pre-commit, before the checkpoint is complete. This violates SINK-02.

It needs only the standard library and speaks the adapter protocol.
"""

import json
import sys


class Sink:
    def __init__(self):
        self.open, self.next, self.running, self.finished = 1, 2, True, False
        self.snapshots, self.committed = {}, []

    def begin(self):
        self.open, self.next = self.next, self.next + 1
        return [{"kind": "begin", "transaction": self.open}]

    def snapshot(self, event):
        done = [{"kind": kind, "transaction": self.open} for kind in ("pre_commit", "commit")]
        self.committed.append(self.open)
        begun = self.begin()
        self.snapshots[event["checkpoint"]] = self.open
        return [*done, *begun]

    def crash(self, event):
        self.running, self.open = False, None
        return []

    def restore(self, event):
        opened = self.snapshots.get(event["checkpoint"])
        self.running = True
        aborts = [{"kind": "abort_transaction", "transaction": opened}] if opened else []
        return [*aborts, *self.begin()]

    def apply(self, event):
        kind = event["kind"]
        if self.running is (kind == "restore"):
            raise ValueError(f"not allowed here: {event}")
        if kind == "write":
            return [{"kind": "write", "transaction": self.open, "value": event["value"]}]
        return {"snapshot": self.snapshot, "crash": self.crash, "restore": self.restore}.get(
            kind, lambda event: []
        )(event)

    def state(self):
        return {"open": self.open, "pending": [], "committed": self.committed, "running": self.running}


def main():
    sink = None
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"ok": True}
        if request["op"] == "hello":
            offer = {"sink": {"modes": [], "profiles": ["1.14"], "capabilities": []}}
            reply = {"protocol": 1, "implementation": "hasty-sink", "version": "0.1", "language": "python"}
            reply["components"] = offer
        elif request["op"] == "new":
            sink = Sink()
        elif request["op"] == "apply":
            try:
                reply = {"effects": [sink.apply(event) for event in request["events"]], "state": sink.state()}
            except (KeyError, ValueError) as error:
                reply = {"error": str(error), "at": 0}
        sys.stdout.write(json.dumps({"seq": request["seq"], **reply}) + "\n")
        sys.stdout.flush()
        if request["op"] == "bye":
            return


if __name__ == "__main__":
    main()
