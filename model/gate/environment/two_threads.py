"""A closed model of the two threads at a gate of Flink 1.11 (spec/gate/TwoThreadsModel.tla).

Each channel delivers barriers and cancellations with rising ids. The network thread receives a barrier first.
The task reads the barriers of a channel at any later time, in the order of their receipt. It reads a
cancellation or an end after the barriers before it.
"""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Event
from model.gate.alignment import UNALIGNED
from model.gate.events import Cancel, EndOfPartition, OptionedBarrier, ReceiveBarrier, RunMail
from model.gate.profiles import PROFILES
from model.gate.two_threads import Threads, new_threads
from model.steps import step_of

OPTIONS = (UNALIGNED, False, 0)


def closed_threads(channels: int, ids: int) -> ClosedModel:
    """A gate whose channels deliver ids from 1 to `ids`.

    The state of the environment has the highest delivered id of each channel, followed by a bit set for each
    channel with the ids that the task has not read.
    """

    def offers(threads: Threads) -> Iterator[tuple[str, Event]]:
        for channel in range(channels):
            if threads.gate.closed[channel]:
                continue
            for checkpoint in range(1, ids + 1):
                yield "NetworkReceives", ReceiveBarrier(channel, checkpoint, *OPTIONS)
                yield "TaskReads", OptionedBarrier(channel, checkpoint, *OPTIONS)
                yield "TaskCancels", Cancel(channel, checkpoint)
            yield "TaskEnds", EndOfPartition(channel)
        if threads.mail:
            yield "TaskRunsMail", RunMail()

    def allows(environment: Environment, event: Event) -> Environment | None:
        if type(event) is RunMail:
            return environment
        channel = event[0]
        assert type(channel) is int
        last, unread = environment[channel], environment[channels + channel]
        if type(event) is OptionedBarrier:
            first = unread & -unread
            read = first == 1 << event.checkpoint
            return _with(environment, channels + channel, unread - first) if read else None
        if type(event) is ReceiveBarrier and event.checkpoint > last:
            received = _with(environment, channels + channel, unread | 1 << event.checkpoint)
            return _with(received, channel, event.checkpoint)
        if type(event) is Cancel and not unread and event.checkpoint > last:
            return _with(environment, channel, event.checkpoint)
        return environment if type(event) is EndOfPartition and not unread else None

    return ClosedModel(
        f"two threads at a gate of {channels} channels, ids to {ids}",
        "threads",
        new_threads(channels, False, PROFILES["flink-1.11"], 0),
        (0,) * (2 * channels),
        offers,
        allows,
        step_of("threads"),
    )


def _with(environment: Environment, place: int, value: int) -> Environment:
    return (*environment[:place], value, *environment[place + 1 :])


def closed_threads_models() -> tuple[ClosedModel, ...]:
    """The closed models of this module that the suite explores."""
    return (closed_threads(2, 2), closed_threads(1, 3))
