"""Polls Flink's REST interface, and judges its answers about checkpoints.

An answer describes one moment, and lists only the last checkpoints. So this module judges only rules that
one answer can show, or a comparison with earlier answers.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from conformance.errors import InputError
from conformance.observe.monitor.reports import Alarm, Ended, Place

REMEMBERED = 1_000
"""Maximum number of checkpoints that are remembered for each job."""
_SECONDS = 10
_LARGEST = 64 << 20
_STATUSES = ("IN_PROGRESS", "COMPLETED", "FAILED")


class UnreachableError(OSError):
    """The REST interface gave no answer, or one that is no JSON object."""


@dataclass(slots=True)
class _Known:
    status: str
    triggered: int
    is_savepoint: bool
    ended: int
    """The time of its completion in ms since the epoch; 0 if it has not completed."""


@dataclass
class _Job:
    checkpoints: dict[int, _Known] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    restored: tuple[int, int] | None = None
    """The restored checkpoint and the time of the last restore, in ms since the epoch."""
    max_concurrent: int | None = None
    highest: int = 0
    is_new_manager: bool = False
    """Whether a new job manager has started and no answer has shown yet what it has restored."""


class RestWatch:
    """Polls one cluster. Calls `alarms` for each alarm and `ended` for each ended checkpoint."""

    def __init__(
        self,
        url: str,
        alarms: Callable[[Alarm], None],
        ended: Callable[[Ended], None],
        fetch: Callable[[str], Any] | None = None,
    ) -> None:
        """`fetch` returns the JSON object at a URL. Raises InputError if `url` is no http or https URL."""
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc:
            raise InputError(f"--rest: expected a URL such as http://localhost:8081, got {url!r}")
        self.url = url.rstrip("/")
        self.polls = 0
        """The number of polls that were answered."""
        self.unanswered = 0
        self.last_error = ""
        self.judged: set[str] = set()
        """The rules that were judged."""
        self._fetch = fetch or _get
        self._alarms, self._ended = alarms, ended
        self._jobs: dict[str, _Job] = {}

    def poll(self) -> None:
        """Poll every job once. A poll without an answer is counted, and raises no alarm."""
        try:
            jobs = self._fetch(f"{self.url}/jobs")["jobs"]
            for job in jobs:
                self._poll_job(str(job["id"]))
        except UnreachableError as lost:
            self.unanswered += 1
            self.last_error = str(lost)
            return
        except (KeyError, TypeError) as odd:
            self._alarm("", "", f"/jobs: the answer cannot be read: {type(odd).__name__} {odd}", "/jobs")
            return
        self.polls += 1
        for gone in set(self._jobs).difference(str(job["id"]) for job in jobs):
            del self._jobs[gone]

    def _poll_job(self, job: str) -> None:
        path = f"/jobs/{job}/checkpoints"
        known = self._jobs.setdefault(job, _Job())
        try:
            if known.max_concurrent is None:
                known.max_concurrent = int(self._fetch(f"{self.url}{path}/config")["max_concurrent"])
            answer = self._fetch(f"{self.url}{path}")
            if "errors" in answer:  # the job takes no checkpoints
                return
            self._judge(job, known, answer, path)
        except (KeyError, TypeError, ValueError) as odd:
            self._alarm(job, "", f"the answer cannot be read: {type(odd).__name__} {odd}", path)

    # ------------------------------------------------------------ one answer

    def _judge(self, job: str, known: _Job, answer: Mapping[str, Any], path: str) -> None:
        history = [dict(one) for one in answer["history"]]
        ids = [_number(one, "id") for one in history]
        self.judged.add("COORD-02")
        for newer, older in pairwise(ids):
            if older >= newer:
                self._alarm(job, "COORD-02", f"checkpoint {older} comes after {newer} in the history, its "
                            "ids fall", path, older)  # fmt: skip
        is_first_answer = self._counts(job, known, answer["counts"], answer["latest"], path)
        for one in reversed(history):
            self._checkpoint(job, known, one, path)
        self._check_concurrent(job, known, history, path)
        latest = answer["latest"]
        self._latest(job, history, latest.get("completed"), path)
        restored = latest.get("restored")
        if restored is not None:
            if _number(restored, "id") not in ids:
                _completed_unseen(known, _number(restored, "id"))
            self._restored(job, known, restored, path, is_first_answer)
        for old in sorted(known.checkpoints)[:-REMEMBERED]:
            del known.checkpoints[old]

    def _counts(
        self, job: str, known: _Job, counts: Mapping[str, Any], latest: Mapping[str, Any], path: str
    ) -> bool:
        """Compare the counts with each other and with those of the last answer.

        Counts only fall when a new job manager starts. Returns whether this is its first answer.
        """
        now = {name: _number(counts, name) for name in ("total", "in_progress", "completed", "failed")}
        before, known.counts = known.counts, now
        self.judged.add("COORD-07")
        parts = now["in_progress"] + now["completed"] + now["failed"]
        if now["total"] != parts:
            self._alarm(job, "COORD-07", f"{now['total']} checkpoints in total, and {parts} in progress, "
                        "completed and failed together", path)  # fmt: skip
        restored = latest.get("restored")
        shown = (
            None if restored is None else (_number(restored, "id"), _number(restored, "restore_timestamp"))
        )
        fallen = [name for name in ("total", "completed", "failed") if now[name] < before.get(name, 0)]
        restores = shown not in (None, known.restored)
        may_be_new = restored is None and (not now["total"] or not before.get("completed"))
        if fallen and (restores or may_be_new):
            known.is_new_manager = True
            return True
        if fallen:
            what = ", ".join(f"{name} from {before[name]} to {now[name]}" for name in fallen)
            self._alarm(job, "COORD-07", f"the counts fall: {what}, but nothing was restored", path)
        elif known.is_new_manager and restored is None and now["total"]:
            self._restored_nothing(job, known, path)
        return False

    def _restored_nothing(self, job: str, known: _Job, path: str) -> None:
        """Judge a new job manager that has triggered checkpoints and has restored nothing."""
        known.is_new_manager = False
        completed = [one for one, seen in known.checkpoints.items() if seen.ended and not seen.is_savepoint]
        if completed:
            what = f"a new job manager has restored nothing, and checkpoint {max(completed)} had completed"
            self._alarm(job, "ONCE-04", what, path, max(completed))

    def _checkpoint(self, job: str, known: _Job, one: Mapping[str, Any], path: str) -> None:
        checkpoint, status = _number(one, "id"), str(one["status"])
        triggered = _number(one, "trigger_timestamp")
        if status not in _STATUSES:
            raise ValueError(f"checkpoint {checkpoint} has the unknown status {status[:40]!r}")
        before = known.checkpoints.get(checkpoint)
        self.judged |= {"COORD-07", "COORD-09"}
        what = f"checkpoint {checkpoint}"
        if before is None:
            self._first_seen(job, known, checkpoint, path)
        elif before.status != status and before.status != "IN_PROGRESS":
            rule = "COORD-07" if status == "COMPLETED" else "COORD-09"
            self._alarm(job, rule, f"{what} is {status}, but it was {before.status}", path, checkpoint)
        elif before.triggered != triggered:
            self._alarm(job, "COORD-02", f"{what} was triggered at {triggered}, and at {before.triggered} in "
                        "an earlier answer: its id is used twice", path, checkpoint)  # fmt: skip
        expected, received = _number(one, "num_subtasks"), _number(one, "num_acknowledged_subtasks")
        if received > expected or (
            status == "COMPLETED" and received < expected and not self._has_finished(job)
        ):
            self._alarm(job, "COORD-07", f"{what} is {status} with {received} of {expected} acknowledgements",
                        path, checkpoint)  # fmt: skip
        duration = one.get("end_to_end_duration")
        took = duration if isinstance(duration, int) else 0
        is_savepoint = one.get("is_savepoint") is True
        ended = triggered + took if status == "COMPLETED" else 0
        known.checkpoints[checkpoint] = _Known(status, triggered, is_savepoint, ended)
        if status != "IN_PROGRESS" and (before is None or before.status != status):
            size = one.get("checkpointed_size", one.get("state_size"))
            kind = "savepoint" if is_savepoint else "checkpoint"
            size = size if isinstance(size, int) else None
            self._ended(
                Ended(job, checkpoint, status.lower(), kind, took, size, Place(f"{self.url}{path}", 0))
            )

    def _first_seen(self, job: str, known: _Job, checkpoint: int, path: str) -> None:
        if checkpoint < known.highest:
            self._alarm(job, "COORD-02", f"checkpoint {checkpoint} is new, {known.highest} was seen before",
                        path, checkpoint)  # fmt: skip
        known.highest = max(known.highest, checkpoint)

    def _has_finished(self, job: str) -> bool:
        """Whether a task of the job has finished. Such a task acknowledges no checkpoint."""
        vertices = self._fetch(f"{self.url}/jobs/{job}").get("vertices", ())
        return any(_number(vertex.get("tasks", {}), "FINISHED", 0) for vertex in vertices)

    def _check_concurrent(self, job: str, known: _Job, history: list[dict[str, Any]], path: str) -> None:
        pending = [
            one["id"] for one in history
            if one["status"] == "IN_PROGRESS" and one.get("is_savepoint") is not True
        ]  # fmt: skip
        self.judged.add("COORD-03")
        if known.max_concurrent is not None and len(pending) > known.max_concurrent:
            self._alarm(job, "COORD-03", f"checkpoints {', '.join(map(str, pending))} are in progress, "
                        f"expected at most {known.max_concurrent}", path)  # fmt: skip

    def _latest(self, job: str, history: list[dict[str, Any]], latest: Any, path: str) -> None:  # noqa: ANN401
        completed = [
            _number(one, "id") for one in history
            if one["status"] == "COMPLETED" and one.get("is_savepoint") is not True
        ]  # fmt: skip
        if completed and (latest is None or _number(latest, "id") < max(completed)):
            named = "none" if latest is None else latest["id"]
            self._alarm(job, "COORD-07", f"the latest completed checkpoint is {named}, and {max(completed)} "
                        "of the history has completed", path, max(completed))  # fmt: skip

    def _restored(
        self, job: str, known: _Job, restored: Mapping[str, Any], path: str, is_first_answer: bool
    ) -> None:
        checkpoint, when = _number(restored, "id"), _number(restored, "restore_timestamp")
        if known.restored == (checkpoint, when):
            return
        is_first = known.restored is None and self.polls == 0
        known.restored = checkpoint, when
        known.is_new_manager = False
        self.judged.add("ONCE-04")
        place = Place(f"{self.url}{path}", 0)
        self._ended(Ended(job, checkpoint, "restored", "checkpoint", None, None, place))
        if is_first or restored.get("is_savepoint") is True:
            return
        one = known.checkpoints.get(checkpoint)
        if one is not None and one.status != "COMPLETED":
            self._alarm(job, "ONCE-04", f"checkpoint {checkpoint} is restored, but it is {one.status}", path,
                        checkpoint)  # fmt: skip
        newer = [
            other for other, seen in known.checkpoints.items()
            if other > checkpoint and not seen.is_savepoint and seen.ended and seen.ended < when
        ]  # fmt: skip
        if newer and not is_first_answer:
            what = f"checkpoint {checkpoint} is restored, but {max(newer)} had completed before"
            self._alarm(job, "ONCE-04", what, path, checkpoint)

    def _alarm(self, job: str, rule: str, sentence: str, path: str, checkpoint: int = -1) -> None:
        self._alarms(Alarm(job, rule, sentence, Place(f"{self.url}{path}", 0), checkpoint))

    def account(self) -> Iterator[str]:
        """Yield lines of the final summary: polls, judged rules, and unanswered polls."""
        judged = ", ".join(sorted(self.judged)) or "nothing"
        yield f"  REST         {self.polls:,} polls of {self.url}: {judged}"
        if self.unanswered:
            yield f"  unanswered   {self.unanswered:,} polls, the last one: {self.last_error}"


def _completed_unseen(known: _Job, checkpoint: int) -> None:
    """Count a restored checkpoint as completed if it was in progress in the last answer."""
    one = known.checkpoints.get(checkpoint)
    if one is not None and one.status == "IN_PROGRESS":
        one.status = "COMPLETED"


def _number(of: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = of.get(name, default)
    if type(value) is not int:
        raise ValueError(f"expected a number as {name!r}, got {value!r:.60}")
    return value


def _get(url: str) -> Any:  # noqa: ANN401 - any JSON value
    """The JSON object at a URL. Raises UnreachableError."""
    try:
        with urlopen(url, timeout=_SECONDS) as answer:
            content = answer.read(_LARGEST)
        found = json.loads(content)
    except (OSError, HTTPException, ValueError) as lost:
        raise UnreachableError(f"{url}: {lost}") from lost
    if not isinstance(found, dict):
        raise UnreachableError(f"{url}: expected a JSON object, got {content[:60]!r}")
    return found
