"""Divergences on disk: a replay file, a test that fails as long as the divergence exists, and `replays`.

Their names contain a hash of what is played, so that the same divergence is written once.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from conformance import escape
from conformance.adapters.choose import open_adapter
from conformance.adapters.protocol import Adapter, Failure, Hello, Wire, canonical
from conformance.divergence import answer_values
from conformance.drive import replays
from conformance.drive.bounds.failed_check import FailedCheck, failed_check_of
from conformance.drive.lockstep import Played, replay
from conformance.drive.oracle import Oracle
from conformance.drive.shrinking.evidence import REPEATS, repeated
from conformance.errors import InputError
from conformance.report.divergence import as_test, description
from conformance.report.divergence.description import FoundDivergence, SavedFiles
from conformance.vectors.itf import events_of

FORMAT = 1
FOLDER = Path("build") / "divergences"


class ReplayError(InputError):
    """A file that holds no divergence in this format."""


class Saved(NamedTuple):
    """The content of a replay file."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    adapter: str
    is_flaky: bool = False
    """Whether the answer occurred in some plays only."""
    evidence: FailedCheck | None = None
    """The failed check, if the file has no sequence of events."""


def save(found: FoundDivergence, seed: int | None, folder: Path = FOLDER) -> SavedFiles:
    """Write `<hash>.json` and `test_<hash>.py`, and the other replays in `<hash>/`."""
    divergence = found.divergence
    played: dict[str, Any] = {
        "component": divergence.component,
        "config": divergence.config,
        "events": divergence.events,
        "adapter": escape.utf8(found.adapter),
    }
    name = hashlib.sha256(canonical(played)).hexdigest()[:8]
    replay_file, test_file = folder / f"{name}.json", folder / f"test_{name}.py"
    written = {
        "format": FORMAT,
        **played,
        "implementation": found.implementation,
        "rules": divergence.rules,
        "expected": answer_values(divergence.expected),
        "got": answer_values(divergence.got),
        "repeats": divergence.repeats,
        "seed": seed,
        "found_after": found.found_after,
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = orjson.dumps(escape.json(written), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    replay_file.write_bytes(text)
    test_file.write_text(as_test.text(name, found), encoding="utf-8")
    _, module = replays.write(divergence, name, found.implementation, found.adapter, folder / name, seed)
    return SavedFiles(replay_file, test_file, module, _rows(text, len(divergence.events)))


def save_evidence(evidence: FailedCheck, adapter: str, folder: Path = FOLDER) -> Path:
    """Write a check that has failed as `<hash>.json`, which `--replay` plays again."""
    played = {**evidence.values(), "adapter": escape.utf8(adapter)}
    file = folder / f"{hashlib.sha256(canonical(played)).hexdigest()[:8]}.json"
    written = {"format": FORMAT, **played, "what": evidence.what, "verdict": evidence.verdict.value}
    folder.mkdir(parents=True, exist_ok=True)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    file.write_bytes(orjson.dumps(escape.json(written), option=options))
    return file


def load(path: Path) -> Saved:
    """Read a replay file or a trace; raises ReplayError, or OSError if it cannot be read."""
    try:
        read = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise ReplayError(f"{path} is no JSON: {error}; give a file from {FOLDER}") from error
    if isinstance(read, dict) and path.name.endswith(replays.ITF):
        read = _of_trace(read, path)
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise ReplayError(f"{path}: expected a divergence of format {FORMAT}; give a file from {FOLDER}")
    wrong = [
        name
        for name, kind in (("component", str), ("config", dict), ("events", list), ("adapter", str))
        if not isinstance(read.get(name), kind)
    ]
    if not wrong and not all(isinstance(event, dict) for event in read["events"]):
        wrong = ["events (each must be an object)"]
    if wrong:
        raise ReplayError(f"{path}: missing or of a wrong type: {', '.join(wrong)}")
    if "check" in read:
        try:
            evidence = failed_check_of(read)
        except (KeyError, TypeError, ValueError) as wrong_value:
            raise ReplayError(
                f"{path}: expected a check as `conform` saves it: {wrong_value}"
            ) from wrong_value
        return Saved(*evidence[1:4], read["adapter"], evidence=evidence)
    if not read["events"] or not all(isinstance(event, dict) for event in read["events"]):
        raise ReplayError(f"{path}: expected at least one event, each an object; nothing can be replayed")
    known = (read["component"], read["config"], tuple(read["events"]), read["adapter"])
    return Saved(*known, is_flaky=read.get("repeats") is not None)


def play(found: Saved, adapter: Adapter) -> Played:
    """Play a saved case; a flaky one until it differs, at most REPEATS times.

    `unrepeatable` has the flaky answer with its repeats. Raises WireError or KeyError for a configuration of
    another version of the protocol.
    """
    oracle = Oracle(found.component, found.config)
    played = replay(oracle, adapter, found.events)
    for _ in range(REPEATS if found.is_flaky else 0):
        if played.divergence is None and played.hung is None:
            played = replay(oracle, adapter, found.events)
    seen = played.divergence or played.hung
    if found.is_flaky and seen is not None:
        again = repeated(seen, adapter)
        differed, plays = again.repeats or (0, 0)
        if differed < plays:
            return replace(played, divergence=None, hung=None, stopped=None, unrepeatable=again)
    return played


def _of_trace(read: dict[str, Any], path: Path) -> dict[str, Any]:
    try:
        meta = read["#meta"]
        known = {name: meta[name] for name in ("component", "config")}
        return {
            "format": FORMAT,
            **known,
            "events": list(events_of(read)),
            "adapter": meta.get("adapter", ""),
        }
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ReplayError(
            f"{path}: expected a trace as `conform` or `vectors` writes it, got {wrong!r}"
        ) from wrong


def of_command(folder: Path, command: str, component: str) -> Iterator[Saved]:
    """The cases saved for an implementation and a component; skips files that cannot be read."""
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        with suppress(ReplayError, OSError):
            found = load(file)
            if (found.adapter, found.component) == (command, component) and found.evidence is None:
                yield found


def assert_conforms(
    adapter: str, component: str, config: Wire, events: Sequence[Wire], is_flaky: bool = False
) -> None:
    """Play the events; raises AssertionError with a description if an answer differs from the model's.

    It also raises AssertionError if the case cannot be played to its end, because such a case shows nothing.
    """
    opened = open_adapter(adapter)
    try:
        hello = opened.hello()
        played = play(Saved(component, config, tuple(events), adapter, is_flaky), opened)
    finally:
        opened.bye()
    seen = played.divergence or played.hung or played.unrepeatable
    if seen is not None:
        found = FoundDivergence(seen, name_of(hello), adapter, played.steps)
        raise AssertionError(description.describe(found))
    if played.stopped is not None:
        raise AssertionError(f"the case could not be played: {played.stopped.describe()}")


def name_of(hello: Hello | Failure) -> str:
    """Name and version of an implementation on one line, or its wrong answer."""
    if not isinstance(hello, Hello):
        return hello.describe()
    return escape.short(f"{hello.implementation} {hello.version}")


def _rows(text: bytes, events: int) -> tuple[int, ...]:
    """The lines of an indented replay file at which its events begin: the first objects in a list."""
    lines = enumerate(text.splitlines(), start=1)
    return tuple(number for number, line in lines if line == b"    {")[:events]


def main() -> None:
    """Plays the case of a written test, JSON on stdin; exits with 1 and a description if it does not conform.

    It runs in a separate process, so that packages of a user's project cannot replace those of the suite.
    """
    try:
        assert_conforms(*json.load(sys.stdin))
    except AssertionError as departs:
        sys.exit(str(departs))


if __name__ == "__main__":
    main()
