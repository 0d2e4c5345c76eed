"""The rules of `spec/rules.toml` that state the conditions and effects of the theorem's actions.

The theorem assumes these rules, and the proofs of the components prove them. Some conditions and effects have
no rule. They belong to the dataflow itself (channels, operators, the run), which is no component.
"""

from collections.abc import Mapping

RUN = ("length", "order", "history", "read_after", "sent_after", "cut", "transaction_of")
"""The fields that only record the run. No action reads them."""
_CONDITIONS = {
    "process": {
        "the channel is not blocked": "ALIGN-02 ALIGN-17 ALIGN-19 UNAL-10 UNAL-24",
        "no barrier stands before it": "UNAL-35",
    },
    "receive": {"of this attempt": "ONCE-06", "the sender has passed": "TASK-01"},
    "overtake": {
        "of this attempt": "ONCE-06",
        "unaligned": "UNAL-21",
        "the sender has passed": "UNAL-32 TASK-01",
        "the reader has passed": "UNAL-01 UNAL-02",
        "not yet": "UNAL-05",
    },
    "snapshot": {
        "the job runs": "TASK-10",
        "of this attempt": "ONCE-06",
        "not yet": "ALIGN-18 UNAL-25",
        "not given up": "ALIGN-18 UNAL-25 TASK-05",
        "no newer one": "TASK-02 ALIGN-04 UNAL-05",
        "all barriers have arrived": "ALIGN-05 ALIGN-15 UNAL-09",
        "of a finished task after those it reads from": "COORD-27",
    },
    "give up": {"not yet": "ALIGN-18 UNAL-25"},
    "store": {
        "the task has passed": "TASK-01",
        "all barriers have arrived": "ALIGN-05 ALIGN-15 UNAL-03 UNAL-09",
    },
    "begin": {"the job runs": "COORD-01", "its id is new": "COORD-02"},
    "abort": {"it is pending": "COORD-09 COORD-10"},
    "acknowledge": {"its state is stored": "TASK-07", "it is pending": "COORD-06"},
    "complete": {"it is pending": "COORD-06", "all tasks acknowledged": "COORD-05 COORD-07"},
    "commit": {
        "closed": "SINK-02",
        "up to a completed checkpoint": "SINK-03 SINK-06",
        "not yet": "SINK-04 SINK-08",
    },
    "restore": {"the job has failed": "ONCE-04"},
    "finish": {"the open transaction is empty": "SINK-07"},
}
_EFFECTS = {
    "process": {"kept": "UNAL-23 UNAL-34", "kept_value": "UNAL-23 UNAL-34"},
    "receive": {"arrived": "ALIGN-02 UNAL-10"},
    "overtake": {"arrived": "UNAL-02", "kept": "UNAL-32 UNAL-37", "kept_value": "UNAL-32 UNAL-37"},
    "snapshot": {
        "passed": "TASK-01",
        "barrier": "TASK-01",
        "captured": "TASK-01",
        "captured_offset": "OFFSET-01",
        "first": "SINK-01",
        "end": "SINK-02",
        "opened_at": "SINK-02",
    },
    "receive end": {"ended": "ALIGN-13 ALIGN-15 UNAL-09"},
    "give up": {"given_up": "ALIGN-03 ALIGN-09 ALIGN-22 UNAL-04 UNAL-06"},
    "store": {"stored": "TASK-07", "saved": "TASK-07", "offset": "OFFSET-01"},
    "begin": {"begun": "COORD-02", "current": "ONCE-06", "pending": "COORD-04"},
    "abort": {"pending": "COORD-09 COORD-10"},
    "acknowledge": {"acknowledged": "COORD-05"},
    "complete": {"completed": "COORD-07", "latest": "SUB-01 SUB-06", "pending": "SUB-02 SUB-03 SUB-04"},
    "commit": {"committed": "SINK-03 SINK-06", "times": "SINK-08", "visible": "SINK-08"},
    "restore": {
        "current": "ONCE-06",
        "pending": "COORD-12",
        "passed": "ONCE-04",
        "state": "ONCE-04",
        "read": "ONCE-04",
        "value": "UNAL-36",
        "opened_at": "SINK-06",
    },
}
_OF_THE_DATAFLOW = {
    "process": (
        "the job runs", "the task reads the channel", "a record is there",
        "a source does not read behind a savepoint that stops", "state", "read", "sent", "value",
    ),
    "receive": ("the job runs", "between tasks", "the barrier is next"),
    "overtake": ("the job runs", "between tasks"),
    "give up": ("the job runs",),
    "store": ("the job runs", "of this attempt"),
    "commit": ("a sink's output",),
    "crash": ("the job runs", "is_up"),
    "restore": ("is_up", "sent", "ended", "finished"),
    "snapshot": ("finished_at",),
    "receive end": ("the job runs", "between tasks", "the sender has finished", "all records are read"),
    "finish": ("the job runs", "all inputs have ended", "all transactions are committed", "finished"),
}  # fmt: skip
"""Conditions and effects that no rule states."""


def rules_used() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """By action and condition or changed field: the ids of its rules. Empty if no rule states it."""
    found = {
        (action, part): tuple(rules.split())
        for entries in (_CONDITIONS, _EFFECTS)
        for action, parts in entries.items()
        for part, rules in parts.items()
    }
    return found | {(action, part): () for action, parts in _OF_THE_DATAFLOW.items() for part in parts}
