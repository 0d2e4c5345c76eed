"""Requests to the REST interface of a job manager, as far as a campaign needs them."""

import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from conformance.observe.monitor.reports import Alarm
from conformance.observe.monitor.rest import RestWatch, UnreachableError

SECONDS = 5.0
"""Maximum time in seconds until an answer."""
POLLED_SECONDS = 0.5
"""The time between two polls, in seconds."""
_SHOWN = 3


class RestError(RuntimeError):
    """The job manager did not answer, or refused."""


def read_json(port: int, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON answer to a GET, or to a POST if there is a body. Raises RestError if there is no answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=None if body is None else orjson.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            read: dict[str, Any] = orjson.loads(answer.read())
    except (OSError, urllib.error.URLError, orjson.JSONDecodeError) as failed:
        raise RestError(f"{path}: {failed}") from failed
    return read


class RestPoll:
    """Polls the job manager from a thread, and judges its answers as `trace flink --rest` does."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._alarms: list[Alarm] = []
        self._watch = RestWatch(
            f"http://127.0.0.1:{port}", self._alarms.append, lambda _ended: None, self._fetch
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> dict[str, Any]:
        """Stop polling. Returns the number of answered polls, the judged rules, and the first alarms."""
        self._stop.set()
        self._thread.join(2 * SECONDS)
        alarms = [f"{urlsplit(one.place.file).path}: {one.rule}: {one.sentence}" for one in self._alarms]
        return {"polls": self._watch.polls, "rules": sorted(self._watch.judged), "alarms": alarms[:_SHOWN]}

    def _run(self) -> None:
        while not self._stop.wait(POLLED_SECONDS):
            self._watch.poll()

    def _fetch(self, url: str) -> dict[str, Any]:
        try:
            return read_json(self._port, urlsplit(url).path)
        except RestError as failed:
            raise UnreachableError(str(failed)) from failed
