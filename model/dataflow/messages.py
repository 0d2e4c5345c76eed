"""Messages between the coordinator and the tasks: in flight, in no order, each from one attempt.

A message is delivered once, at any later time, also after its attempt has ended; a notification may be
lost. The collection is sorted, so that equal collections are equal values: the order says nothing.

The file knows no rule: what a message does when it arrives is the business of `model.dataflow.dataflow`.
"""

from typing import NamedTuple

from model.events import NONE

TRIGGER = "trigger"
COMPLETE = "complete"
ABORT = "abort"
"""To a task: start a checkpoint; a checkpoint is complete; a checkpoint was aborted."""
ACKNOWLEDGE = "acknowledge"
DECLINE = "decline"
"""To the coordinator."""

NOTIFICATIONS = (COMPLETE, ABORT)
"""What may be lost: nobody waits for it."""
TO_TASKS = (TRIGGER, *NOTIFICATIONS)


class Message(NamedTuple):
    """One message in flight."""

    attempt: int
    """The execution attempt that it was sent in, or to."""
    task: int
    """Who is told, or who tells: its position in the plan."""
    kind: str
    checkpoint: int
    completed: int = NONE
    """Of an abort: the newest completed id that travels along."""
    reason: str = ""
    """Of a decline."""


Messages = tuple[Message, ...]


def sent(messages: Messages, message: Message) -> Messages:
    """The messages with one more in flight."""
    return tuple(sorted((*messages, message)))


def arrived(messages: Messages, message: Message) -> Messages:
    """The messages without one that is in flight."""
    position = messages.index(message)
    return (*messages[:position], *messages[position + 1 :])
