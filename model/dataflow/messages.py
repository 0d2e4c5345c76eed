"""Messages in flight between the coordinator and the tasks. Each belongs to one attempt.

A message arrives once, at any later time, also after its attempt has ended. A notification may be lost.
Messages may arrive in any order. The collection is sorted only so that equal collections are equal values.

The module contains no rule. `model.dataflow.actions` holds the steps of an arriving message.
"""

from typing import NamedTuple

from model.events import NONE

TRIGGER = "trigger"
COMPLETE = "complete"
ABORT = "abort"
"""Kinds of messages to a task: start a checkpoint; a checkpoint is complete; a checkpoint was aborted."""
ACKNOWLEDGE = "acknowledge"
DECLINE = "decline"
"""Kinds of messages to the coordinator."""

NOTIFICATIONS = (COMPLETE, ABORT)
"""Messages that may be lost: no component waits for them."""
TO_TASKS = (TRIGGER, *NOTIFICATIONS)


class Message(NamedTuple):
    """One message in flight."""

    attempt: int
    """The execution attempt of its sender, or of its receiver."""
    task: int
    """Position of the receiving or sending task in the plan."""
    kind: str
    checkpoint: int
    completed: int = NONE
    """In an ABORT: the id of the newest completed checkpoint."""
    reason: str = ""
    """In a DECLINE: the reason."""


Messages = tuple[Message, ...]


def sent(messages: Messages, message: Message) -> Messages:
    """The messages with one more in flight."""
    return tuple(sorted((*messages, message)))


def arrived(messages: Messages, message: Message) -> Messages:
    """The messages without `message`, which arrives."""
    position = messages.index(message)
    return (*messages[:position], *messages[position + 1 :])
