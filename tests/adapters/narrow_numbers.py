"""The reference model with numbers of limited width: right until an id or a channel does not fit.

The command line has two words: a component, and how it holds numbers.
- int32: ids wrap into 32 signed bits.
- double: ids are floating-point numbers.
- mask-32, mask-64, mask-128: channels are the bits of a number with that many bits.
- cancelled-100: a gate keeps 100 cancelled ids whose barriers have not come, and ignores further ones.
- declines: the answer is `unsupported` for ids that a double does not hold exactly.
- exact: right.
"""

import sys

from conformance.adapters.choose import ours
from conformance.adapters.in_process import offer_of
from conformance.adapters.protocol import Hello, Unsupported
from conformance.adapters.serve import serve

COMPONENT, HOW = sys.argv[1:]
SAFE = 2**53 - 1


def narrow(number):
    if HOW == "int32":
        return (number + 2**31) % 2**32 - 2**31
    return int(float(number)) if HOW == "double" else number


class Narrow:
    def __init__(self):
        self.model = ours("model")
        self.begun, self.cancelled = set(), set()

    def hello(self):
        offer = offer_of(COMPONENT)
        if COMPONENT == "gate":
            offer = offer._replace(modes=("exactly-once",), profiles=("flink-1.14",))
        return Hello(f"narrow-{HOW}", "1", "python", {COMPONENT: offer})

    def new(self, component, config):
        self.begun, self.cancelled = set(), set()
        return self.model.new(component, config)

    def apply(self, events):
        if HOW == "declines" and any(event.get("checkpoint", 0) > SAFE for event in events):
            return Unsupported("ids above 2^53 - 1 are not exact")
        return self.model.apply([self.narrowed(event) for event in events])

    def narrowed(self, event):
        if HOW.startswith("mask-"):
            bits = int(HOW.removeprefix("mask-"))
            return {**event, "channel": event["channel"] % bits} if "channel" in event else event
        if HOW.startswith("cancelled-"):
            kept = self.begun if event["kind"] == "barrier" else self.cancelled
            kept |= {event.get("checkpoint", 0)}
            is_full = len(self.cancelled - self.begun) > int(HOW.removeprefix("cancelled-"))
            return {**event, "checkpoint": 0} if event["kind"] == "cancel" and is_full else event
        fields = [name for name in ("checkpoint", "completed") if type(event.get(name)) is int]
        return {**event, **{name: narrow(event[name]) for name in fields}}

    def bye(self):
        self.model.bye()


serve(Narrow(), sys.stdin.buffer, sys.stdout.buffer)
