"""A gate of the reference model that violates one statement of the protocol page. The word names which.

- inject: an injection blocks a channel.
- older-reason: in mode at-least-once, a cancellation aborts older checkpoints with the reason `subsumed`.
- late: the gate treats a barrier of an ended id as one of a new id.
- awaited: the gate awaits a channel again that has ended.
- batch-forgets: if it refuses an event of a batch, it undoes the events before it.
- batch-goes-on: it also applies the events after the refused one.
- no-position: its answer lacks the position of the refused event.
- failed-for-ever: after a `fail`, every new instance has failed.
- goes-on: it takes events after its own `fail`.
- no-inject: right, but it does not offer injections.
- crashes: ends at the first barrier of a second checkpoint.
"""

import sys

from conformance.adapters.choose import ours
from conformance.adapters.in_process import offer_of
from conformance.adapters.protocol import Applied, Errored, Hello
from conformance.adapters.serve import serve

HOW = sys.argv[1]
OFFERS = {
    "inject": (("exactly-once",), ("flink-1.14",), ("handler", "inject")),
    "older-reason": (("at-least-once",), ("flink-1.14",), ("handler",)),
    "failed-for-ever": (("exactly-once",), ("flink-1.12",), ("handler",)),
    "goes-on": (("exactly-once",), ("flink-1.12",), ("handler",)),
}
PLAIN = (("exactly-once",), ("flink-1.14",), ("handler",))


class WrongGate:
    def __init__(self):
        self.model = ours("model")
        self.config, self.events, self.has_failed = {}, [], False

    def hello(self):
        modes, profiles, capabilities = OFFERS.get(HOW, PLAIN)
        offer = offer_of("gate")._replace(modes=modes, profiles=profiles, capabilities=capabilities)
        return Hello(f"wrong-{HOW}", "1", "python", {"gate": offer})

    def new(self, component, config):
        self.config, self.events = config, []
        self.has_failed = self.has_failed and HOW == "failed-for-ever"
        return self.model.new(component, config)

    def apply(self, events):
        if HOW.startswith("batch-") or HOW == "no-position":
            return self.batch(events)
        effects, state = [], {}
        for event in events:
            answer = self.one(event)
            if not isinstance(answer, Applied):
                return answer._replace(at=len(effects)) if isinstance(answer, Errored) else answer
            effects.append(answer.effects[0])
            state = answer.state
        return Applied(effects, state)

    def batch(self, events):
        answer = self.model.apply(events)
        if isinstance(answer, Applied):
            self.events += events
        elif HOW == "no-position":
            return answer._replace(at=None)
        elif HOW == "batch-forgets":
            self.model.new("gate", self.config)
            if self.events:
                self.model.apply(self.events)
        else:
            self.model.apply(events[answer.at + 1 :])
        return answer

    def one(self, event):
        if HOW == "failed-for-ever" and self.has_failed:
            return Errored("the gate has failed")
        if HOW == "goes-on" and self.has_failed:
            return Applied([[]], {})
        if HOW == "no-inject" and event["kind"] == "inject":
            sys.exit("nobody has offered inject")
        before = self.model.apply([{"kind": "end_of_partition", "channel": -1}])  # refused: changes nothing
        assert isinstance(before, Errored)
        answer = self.model.apply([event])
        if not isinstance(answer, Applied):
            return answer
        self.events.append(event)
        effects = [dict(effect) for effect in answer.effects[0]]
        self.has_failed = self.has_failed or any(effect["kind"] == "fail" for effect in effects)
        seen = [one.get("checkpoint") for one in self.events[:-1] if one["kind"] == "barrier"]
        channel, checkpoint = event.get("channel"), event.get("checkpoint")
        if HOW == "inject" and event["kind"] == "inject" and effects:
            effects.insert(0, {"kind": "block", "channel": 0})
        if HOW == "older-reason" and event["kind"] == "cancel":
            older = [one for one in effects if one["checkpoint"] != checkpoint]
            for effect in older:
                effect["reason"] = "SUBSUMED"
        if HOW == "late" and effects == [{"kind": "resume", "channel": channel}] and checkpoint in seen:
            effects = [{"kind": "block", "channel": channel}]
        if HOW == "awaited" and answer.state["closed"] and any(one["kind"] == "trigger" for one in effects):
            effects = [one for one in effects if one["kind"] == "block"]
        if HOW == "crashes" and event["kind"] == "barrier" and seen and checkpoint > max(seen):
            sys.exit("the engine has run hot")
        return Applied([effects], answer.state)

    def bye(self):
        self.model.bye()


serve(WrongGate(), sys.stdin.buffer, sys.stdout.buffer)
