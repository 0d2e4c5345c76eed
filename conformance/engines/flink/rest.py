"""The REST interface of a job manager, as far as a campaign needs it."""

import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import orjson

SECONDS = 5.0
"""The time limit of one answer."""


class RestError(RuntimeError):
    """The job manager did not answer, or refused."""


def ask(port: int, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The answer to GET, or to POST if there is a body. Raises RestError."""
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
