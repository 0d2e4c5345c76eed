"""Writes a divergence as a test for pytest. The test fails as long as the implementation diverges."""

from conformance import escape
from conformance.report.divergence import description
from conformance.report.divergence.description import FoundDivergence


def text(name: str, found: FoundDivergence) -> str:
    """The source of the test; `name` is the hash of the divergence."""
    divergence = found.divergence
    flaky = ", True" if divergence.repeats is not None else ""
    headline = escape.python_docstring(escape.line(description.headline(divergence)))
    implementation = escape.python_docstring(escape.short(found.implementation))
    return f'''"""{divergence.verdict.value} {headline}.

{implementation}; written by `barrierspec conform`. Fails as long as the implementation diverges.
"""

import json
import subprocess
import sys

ADAPTER = {escape.python_text(found.adapter)}
CONFIG = {escape.python(dict(divergence.config))}
EVENTS = {escape.python([dict(event) for event in divergence.events])}


def test_{name}() -> None:
    case = json.dumps([ADAPTER, {escape.python_text(divergence.component)}, CONFIG, EVENTS{flaky}])
    play = [sys.executable, "-P", "-m", "conformance.drive.saved"]
    played = subprocess.run(play, input=case, capture_output=True, text=True, check=False)
    assert played.returncode == 0, played.stderr
'''
