"""Small gates that test the suite. The command line names one of them. They offer level `handler` only.

- right: follows the protocol.
- never-blocks: blocks no channel.
- claims-polled: offers a level that it does not implement.
- claims-older: states that it is of Flink 1.12, and behaves as 1.14.
- misspells-mode: offers an unknown mode.
- slow: right, but each answer takes a long computation.
- blinks: shows a wrong state after the first event.
- crashes: ends at the first barrier of a second checkpoint.
- reads-one: right, but it takes all input that has arrived for one request.
"""

import os
import sys

import gate_forgets_subsumption as forgetful

HOW = sys.argv[1]


class Right(forgetful.Gate):
    def barrier(self, channel, checkpoint):
        subsumes = self.pending and checkpoint > self.current
        older, effects = self.current, super().barrier(channel, checkpoint)
        if not subsumes:
            return effects
        at = next(place for place, effect in enumerate(effects) if effect["kind"] == "block")
        abort = {"kind": "abort", "checkpoint": older, "reason": "SUBSUMED"}
        return [*effects[:at], abort, *effects[at:]]


class NeverBlocks(Right):
    def apply(self, event):
        return [effect for effect in super().apply(event) if effect["kind"] not in ("block", "resume")]

    def state(self):
        return {**super().state(), "blocked": []}


class Slow(Right):
    def apply(self, event):
        sum(range(20_000))
        return super().apply(event)


class Blinks(Right):
    events = 0

    def apply(self, event):
        self.events += 1
        return super().apply(event)

    def state(self):
        return {**super().state(), "pending": self.pending and self.events != 1}


class Crashes(Right):
    def barrier(self, channel, checkpoint):
        if -1 < self.current < checkpoint:
            sys.exit("the engine has run hot")
        return super().barrier(channel, checkpoint)


def requests():
    while request := os.read(0, 1 << 20):
        yield request


LIES = {
    "claims-polled": {"capabilities": ["handler", "polled"]},
    "claims-older": {"profiles": ["flink-1.12"]},
    "misspells-mode": {"modes": ["exactly_once"]},
}
true_answer = forgetful.answer


def answer(request, gate):
    reply, after = true_answer(request, gate)
    if request["op"] == "hello":
        reply["implementation"] = HOW
        reply["components"]["gate"].update(LIES.get(HOW, {}))
    return reply, after


WRONG = {"never-blocks": NeverBlocks, "slow": Slow, "blinks": Blinks, "crashes": Crashes}
forgetful.Gate = WRONG.get(HOW, Right)
forgetful.answer = answer
if HOW == "reads-one":
    sys.stdin = requests()
forgetful.main()
