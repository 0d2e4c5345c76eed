"""A gate that violates ALIGN-04: a late barrier unblocks every channel, also those of a newer checkpoint.

It needs only the standard library. It speaks the adapter protocol, at level `handler` only.
"""

import json
import sys


class Gate:
    def __init__(self, config):
        self.channels = config["channels"]
        self.after_finish = config.get("checkpoints_after_tasks_finish", True)
        self.current, self.pending = -1, False
        self.blocked, self.closed = set(), set()

    def release(self):
        resumed = [{"kind": "resume", "channel": channel} for channel in sorted(self.blocked)]
        self.blocked, self.pending = set(), False
        return resumed

    def complete_if_all_arrived(self):
        if len(self.blocked) + len(self.closed) < self.channels:
            return []
        return [{"kind": "trigger", "checkpoint": self.current}, *self.release()]

    def barrier(self, channel, checkpoint):
        if checkpoint < self.current or (checkpoint == self.current and not self.pending):
            others = sorted(self.blocked - {channel})
            self.blocked = set()  # defect: the alignment of the newer checkpoint is lost
            return [{"kind": "resume", "channel": one} for one in [channel, *others]]
        resumed = []
        if checkpoint > self.current:
            if self.pending:
                ended = {"kind": "abort", "checkpoint": self.current, "reason": "SUBSUMED"}
                resumed = [*self.release(), ended]
            self.current, self.pending = checkpoint, True
        self.blocked.add(channel)
        return [*resumed, {"kind": "block", "channel": channel}, *self.complete_if_all_arrived()]

    def cancel(self, channel, checkpoint):
        if checkpoint < self.current or (checkpoint == self.current and not self.pending):
            return []
        self.current = checkpoint
        reason = "ON_CANCELLATION_BARRIER"
        return [*self.release(), {"kind": "abort", "checkpoint": checkpoint, "reason": reason}]

    def end_of_partition(self, channel):
        self.closed.add(channel)
        if not self.pending:
            return []
        if not self.after_finish:
            reason = "INPUT_END_OF_STREAM"
            return [*self.release(), {"kind": "abort", "checkpoint": self.current, "reason": reason}]
        self.blocked.discard(channel)
        return self.complete_if_all_arrived()

    def apply(self, event):
        fields = dict(event)
        kind = fields.pop("kind")
        channel = fields.get("channel", -1)
        known = kind in ("barrier", "cancel", "end_of_partition")
        if not known or not 0 <= channel < self.channels or channel in self.closed:
            raise ValueError(f"not allowed here: {event}")
        return getattr(self, kind)(**fields)

    def state(self):
        blocked, closed = sorted(self.blocked), sorted(self.closed)
        return {"current": self.current, "pending": self.pending, "blocked": blocked, "closed": closed}


def answer(request, gate):
    if request["op"] == "hello":
        offer = {"modes": ["exactly-once"], "profiles": ["flink-1.14"], "capabilities": ["handler"]}
        named = {"implementation": "late-gate", "version": "0.1", "language": "python"}
        return {"protocol": 1, **named, "components": {"gate": offer}}, gate
    if request["op"] == "new":
        if request["component"] != "gate" or request["config"].get("level") != "handler":
            return {"unsupported": "only a gate at handler level"}, None
        return {"ok": True}, Gate(request["config"])
    if request["op"] == "bye":
        return {"ok": True}, gate
    effects = []
    for event in request["events"]:
        try:
            effects.append(gate.apply(event))
        except ValueError as error:
            return {"error": str(error), "at": len(effects)}, gate
    return {"effects": effects, "state": gate.state()}, gate


def main():
    gate = None
    for line in sys.stdin:
        request = json.loads(line)
        reply, gate = answer(request, gate)
        sys.stdout.write(json.dumps({"seq": request["seq"], **reply}) + "\n")
        sys.stdout.flush()
        if request["op"] == "bye":
            return


if __name__ == "__main__":
    main()
