"""Damaged stored files: checkpoints, logs, saved divergences, lists, vectors, accounts."""

import gzip
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import orjson

from conformance.cli import run
from conformance.observe.flink import read_lines
from conformance.observe.flink.corruptions import CORRUPTIONS
from conformance.observe.flink.edits import AcceptedLog, accepted_log
from impl.state import CheckpointStorage, encode
from impl.state.checkpoint_metadata import checksum
from tests.fuzz.hostile import damaged, mutated
from tests.fuzz.judge import Case

LOGS = Path(__file__).parents[1] / "observe" / "logs"
DIVERGED = frozenset({1})
NOT_GREEN = frozenset({1, 2, 64})
ANY = frozenset({0, 1, 2, 64})
_FATAL = frozenset({"not UTF-8", "nothing but zeros", "deeply nested", "one huge line", "cut", "a line lost"})
"""Damages that no log survives."""


def case(name: str, random: Random, folder: Path) -> Case:
    """A case: one command that reads one damaged file."""
    kind = random.choice(list(_KINDS))
    arguments, may_end, what = _KINDS[kind](random, folder)
    return Case(name, tuple(map(str, arguments)), may_end, f"{kind}: {what}")


Made = tuple[list[Any], frozenset[int], str]


# ---------------------------------------------------------------- checkpoints


def _job(folder: Path) -> CheckpointStorage:
    storage = CheckpointStorage(folder / "checkpoints", inline_bytes=64)
    attempt = storage.new_attempt()
    storage.record_restored(attempt, None)
    for checkpoint in (1, 2, 3):
        handles = [
            storage.write(checkpoint, task, attempt, encode({"x": "y" * size}), offset=checkpoint)
            for task, size in (("source-0", 1), ("count-0", 500))
        ]
        storage.publish(checkpoint, attempt, handles, 128)
    return storage


def _checkpoint_bytes(random: Random, folder: Path) -> Made:
    _job(folder)
    path = random.choice(sorted(folder.glob("checkpoints/chk-*/*")))
    before = path.read_bytes()
    after, how = damaged(before, random)
    path.write_bytes(after)
    may_end = ANY if after.split() == before.split() else DIVERGED
    return ["checkpoints", folder], may_end, f"{path.relative_to(folder)}: {how}"


def _manifest(random: Random, folder: Path) -> Made:
    """Unexpected content with a right checksum."""
    _job(folder)
    path = folder / "checkpoints" / f"chk-{random.randint(1, 3)}" / "_metadata"
    body = json.loads(path.read_bytes())
    del body["checksum"]
    changed = mutated(body, random)
    if isinstance(changed, dict):
        text = json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()
        changed = {**changed, "checksum": checksum(text).hex()}
    path.write_bytes(orjson.dumps(changed) if random.random() < 0.9 else b'{"a":' * 5_000)
    return ["checkpoints", folder, *random.choice(([], ["--tasks"]))], ANY, f"manifest {changed!r:.200}"


def _odd_names(random: Random, folder: Path) -> Made:
    _job(folder)
    names = ("", "٣", "007", "-1", "9" * 200, "x", "1e3", "²", "5", "0", " 1")
    name = f"chk-{random.choice(names)}"
    above = random.choice(("checkpoints", "checkpoints/attempts", "savepoints"))
    if above == "savepoints":
        name = name.replace("chk", "savepoint")
    place = folder / above / name
    inner = random.choice(("_metadata/_metadata", "_metadata", "x.state", "²", "lineage", ".restored"))
    target = place / inner
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(random.choice((b"", b"{}", b"[" * 50_000, b"\xff")))
    if random.random() < 0.3:
        note = random.choice(("²", "9" * 60, "x.restored", "1.restored"))
        content = random.choice((b"", b'{"restored": "x"}', b'{"restored": true}', b"[" * 50_000, b"{}"))
        (folder / "checkpoints/attempts" / note).write_bytes(content)
    options = random.choice(([], ["--plot", "plot.svg"]))
    return ["checkpoints", folder, *options], ANY, f"{above}/{name}/{inner}"


def _metrics(random: Random, folder: Path) -> Made:
    """Damages the metrics that `--plot` draws."""
    _job(folder)
    task = {"bytes": 1, "sync_ms": 1.0}
    whole = {"checkpoint": 1, "attempt": 1, "tasks": {"a": task}}
    how = _json_file(whole, random, folder / "metrics.jsonl")
    (folder / "metrics.jsonl").write_bytes((folder / "metrics.jsonl").read_bytes() + b"\n")
    return ["checkpoints", folder, "--plot", "plot.svg"], ANY, how


# ---------------------------------------------------------------- logs


@cache
def _event_log() -> Path:
    """The event log of a simulated run, which is executed once. A case gets a copy."""
    from tests.observe.simulated_run import SimulatedRun

    folder = Path(tempfile.mkdtemp(prefix="fuzz-events-"))
    SimulatedRun(folder, seed=3, fail_at=(200,), max_concurrent=2, checkpoint_every=12).execute()
    return folder


def _event_lines(random: Random, folder: Path) -> Made:
    copied = folder / "events"
    shutil.copytree(_event_log(), copied)
    path = random.choice(sorted(copied.glob("*.jsonl")))
    if random.random() < 0.4:
        after, how = damaged(path.read_bytes(), random)
        path.write_bytes(after)
        return ["trace", "runs", copied], NOT_GREEN if how in _FATAL else ANY, f"{path.name}: {how}"
    lines = path.read_bytes().splitlines()
    at = random.choice((0, random.randrange(len(lines))))
    lines[at] = orjson.dumps(mutated(orjson.loads(lines[at]), random))
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return ["trace", "runs", copied], ANY, f"{path.name}:{at + 1} {lines[at]!r:.250}"


@cache
def _flink_log() -> AcceptedLog:
    return accepted_log(read_lines(str(LOGS / "flink-2.2.1-fail.log.gz")))


def _flink_lines(random: Random, folder: Path) -> Made:
    file = folder / "job.log"
    log = _flink_log()
    if random.random() < 0.5:
        corruption = random.choice([one for one in CORRUPTIONS if not one.rules])
        edit = corruption.draw(log, random)
        assert edit is not None
        file.write_text("".join(f"{line}\n" for line in edit.apply(log.texts)))
        return ["trace", "flink", file], NOT_GREEN, f"{corruption.name}: {edit.what}"
    whole = "".join(f"{line}\n" for line in log.texts).encode()
    if random.random() < 0.5:
        whole = gzip.compress(whole, 1)
    after, how = damaged(whole, random)
    file.write_bytes(after)
    return ["trace", "flink", file], ANY, how


def _bomb(random: Random, folder: Path) -> Made:
    file = folder / "job.log.gz"
    piece = random.choice((b"x" * 10_000 + b"\n", bytes(1_000_000), (b"y" * 99_999 + b"\n") * 10))
    with gzip.open(file, "wb", 1) as archive:
        archive.write(b"08:30:00,000 INFO a.b [c] d\n")
        for _ in range(100_000_000 // len(piece)):
            archive.write(piece)
    return ["trace", "flink", file], frozenset({64}), "a bomb"


# ---------------------------------------------------------------- what commands save and read


def _json_file(text: dict[str, Any], random: Random, file: Path) -> str:
    if random.random() < 0.3:
        after, how = damaged(orjson.dumps(text), random)
        file.write_bytes(after)
        return how
    changed = orjson.dumps(mutated(text, random))
    file.write_bytes(changed)
    return repr(changed[:250])


_EVENTS = [{"kind": "barrier", "channel": channel, "checkpoint": 1} for channel in (0, 1)]
_CONFIG = {"channels": 2, "mode": "exactly-once", "profile": "flink-1.14", "level": "handler"}


def _divergence(random: Random, folder: Path) -> Made:
    whole = {"format": 1, "component": "gate", "config": _CONFIG, "events": _EVENTS, "adapter": "model"}
    name = random.choice(("a.json", "a.itf.json", "a.tla"))
    if name == "a.itf.json":
        whole = {"#meta": whole, "vars": ["x"], "states": [{"event": one} for one in _EVENTS]}
    how = _json_file(whole, random, folder / name)
    if name == "a.tla":
        return ["conform", "--replay", folder / name, "--html", "x.html"], ANY, how
    return ["conform", "--replay", folder / name, "--adapter", "model"], ANY, how


def _listed(random: Random, folder: Path) -> Made:
    entry = {"component": "gate", "config": _CONFIG, "events": _EVENTS, "rule": "ALIGN-05", "why": ""}
    how = _json_file({"format": 1, "divergences": [entry]}, random, folder / "known.json")
    arguments = ["conform", "--adapter", "true", "--component", "gate", "--examples", "1"]
    return [*arguments, "--known-divergences", folder / "known.json"], ANY, how


def _account(random: Random, folder: Path) -> Made:
    whole = {
        "sent": [{"record": "r1", "key": "a", "lane": "0", "position": 0, "weight": 1}],
        "committed": [{"key": "a", "record": "r1", "place": 0, "total": 1}],
        "state": [{"key": "a", "records": 1, "total": 1}],
        "cuts": [{"checkpoint": 1, "offsets": {"0": 1}, "state": [{"key": "a", "records": 1, "total": 1}]}],
        "seen": [{"key": "a", "record": "r1", "place": 0, "total": 1, "checkpoint": 1, "complete": True}],
    }
    how = _json_file(whole, random, folder / "account.json")
    return ["classify", folder / "account.json"], ANY, how


def _matrix(random: Random, folder: Path) -> Made:
    text = (
        '[[implementation]]\nname = "a"\nadapter = "true"\n'
        '[[implementation]]\nname = "b"\nadapter = "true"\n'
        '[[pipeline]]\nname = "c"\nruns = "nothing"\n'
    )
    choices = (
        lambda: damaged(text.encode(), random)[0],
        lambda: b"implementation = 1\n",
        lambda: b"implementation = [1, 2]\n",
        lambda: b"[implementation]\nname = 1\n",
        lambda: b'[[implementation]]\nname = ["x"]\nadapter = {a = 1}\n',
        lambda: b'[[implementation]]\nname = "x"\nadapter = "\'"\n',
        lambda: b'[[implementation]]\nname = "x"\nadapter = ""\n',
        lambda: b'[[implementation]]\nname = "x"\nrelease = "9.9.9"\n',
        lambda: b"pipeline = [1]\n",
        lambda: b'[[pipeline]]\nname = "x"\nruns = ["a"]\n',
        lambda: b'[[pipeline]]\nname = "x"\nruns = "runtime"\nkeeps = 1\n',
        lambda: b"\xff\xfe[",
        lambda: b"a = " + b"[" * 5_000,
        lambda: b"a = " + b"9" * 9_000,
    )
    content = random.choice(choices)()
    (folder / "matrix.toml").write_bytes(content)
    return ["matrix", folder / "matrix.toml", "--out", folder / "matrix.md"], ANY, repr(content[:250])


def _transcripts(random: Random, folder: Path) -> Made:
    source = Path(__file__).parents[1] / "transcripts" / "offsets"
    path = random.choice(sorted(source.glob("*.txt")))
    after, how = damaged(path.read_bytes(), random)
    (folder / "t").mkdir()
    (folder / "t" / path.name).write_bytes(after)
    arguments = ["vectors", "write", folder / "v", "--component", "offsets", "--walks", "0", "--no-paths"]
    return [*arguments, "--transcripts", folder / "t"], ANY, how


@cache
def _vectors() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-vectors-"))
    arguments = ["vectors", "write", str(folder), "--component", "offsets", "--walks", "2", "--no-paths"]
    assert run(arguments) == 0
    return folder


def _vector_files(random: Random, folder: Path) -> Made:
    copied = folder / "v"
    shutil.copytree(_vectors(), copied)
    path = random.choice(sorted(copied.iterdir()))
    before = path.read_bytes()
    if random.random() < 0.5 and path.name == "index.json":
        how = _json_file(orjson.loads(before), random, path)
        return ["vectors", "verify", copied], ANY, f"{path.name}: {how}"
    after, how = damaged(before, random)
    if random.random() < 0.5 and path.suffix == ".jsonl":  # with a right checksum
        lines = before.splitlines()
        lines[0] = orjson.dumps(mutated(orjson.loads(lines[0]), random))
        after, how = b"".join(line + b"\n" for line in lines), "mutated"
        index = orjson.loads((copied / "index.json").read_bytes())
        index["components"]["offsets"]["sha256"] = hashlib.sha256(after).hexdigest()
        (copied / "index.json").write_bytes(orjson.dumps(index))
    path.write_bytes(after)
    return ["vectors", "verify", copied], ANY, f"{path.name}: {how}"


_KINDS: dict[str, Callable[[Random, Path], Made]] = {
    "bytes of a checkpoint": _checkpoint_bytes,
    "a manifest": _manifest,
    "odd names": _odd_names,
    "measures": _metrics,
    "an event log": _event_lines,
    "an event log again": _event_lines,
    "a log of Flink": _flink_lines,
    "an archive": _bomb,
    "a saved divergence": _divergence,
    "a list of divergences": _listed,
    "an account": _account,
    "a matrix": _matrix,
    "transcripts": _transcripts,
    "vectors": _vector_files,
}
assert os.name == "posix"
