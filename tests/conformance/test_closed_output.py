"""If a command's stdout is closed, it continues silently, and its exit code does not change."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from conformance import cli, commands
from conformance.cli import CommandModules
from conformance.own_process import own_process
from conformance.verdict import Exit

ADAPTERS = Path(__file__).parents[1] / "adapters"
BROKEN = f"{sys.executable} {ADAPTERS / 'gate_forgets_subsumption.py'}"
CONFORMING = ("conform", "--adapter", "impl", "--component", "offsets", "--no-suites", "--examples", "1")
SILENT = ("conform", "--adapter", "./no-such-engine")
CODES = {
    (): Exit.USAGE,
    ("--help",): 0,
    ("explain", "ALIGN-03"): 0,
    ("schema", "gate"): 0,
    ("schema", "no-such-schema"): Exit.USAGE,
    CONFORMING: Exit.CONFORMS,
    (*SILENT, "--component", "offsets"): Exit.UNDETERMINED,
}


def ends_with(words, stdout, stderr, cwd):
    done = subprocess.run(
        own_process("conformance.cli", *words),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
    )
    return done.returncode


@pytest.fixture
def closed():
    """The write end of a pipe whose read end is closed."""
    reads, writes = os.pipe()
    os.close(reads)
    yield writes
    os.close(writes)


@pytest.mark.parametrize("words", CODES, ids=" ".join)
@pytest.mark.parametrize("streams", ["stdout", "stderr", "both"])
def test_a_closed_pipe_does_not_change_the_exit_code(words, streams, closed, tmp_path):
    stdout = closed if streams != "stderr" else subprocess.DEVNULL
    stderr = closed if streams != "stdout" else subprocess.PIPE
    assert ends_with(words, stdout, stderr, tmp_path) == CODES[words]


def test_a_divergence_is_written_and_keeps_its_exit_code_if_the_output_is_closed(closed, tmp_path):
    words = ("conform", "--adapter", BROKEN, "--examples", "2", "--json", "found.json")
    assert ends_with(words, closed, closed, tmp_path) == Exit.DIVERGES
    assert (tmp_path / "found.json").is_file()


@pytest.mark.parametrize("name", CommandModules(name="all").list_commands(None))
def test_the_help_of_every_command_ends_with_0_if_the_output_is_closed(name, closed, tmp_path):
    assert name in {Path(path).stem for folder in commands.__path__ for path in Path(folder).rglob("*.py")}
    assert ends_with((name, "--help"), closed, closed, tmp_path) == 0


def test_a_closed_pipe_is_not_reported(closed, tmp_path):
    done = subprocess.run(
        own_process("conformance.cli", *CONFORMING), stdout=closed, stderr=subprocess.PIPE, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (Exit.CONFORMS, b"")


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", [CONFORMING, ("schema", "no-such-schema")], ids=" ".join)
def test_a_stream_that_was_never_open_does_not_change_the_exit_code(words, streams, tmp_path):
    command = f'"$@" {streams}'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *own_process("conformance.cli", *words), *written(words)], cwd=tmp_path
    )
    assert done.returncode == CODES[words]
    if written(words):  # the output did not go into the file that got the free descriptor
        assert (tmp_path / "found.json").read_bytes()[:1] == b"{"


def written(words):
    return ("--json", "found.json") if words == CONFORMING else ()


def test_a_break_of_another_pipe_is_an_internal_error(monkeypatch, capsys):
    @click.command()
    def command():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(CommandModules, "get_command", lambda *_: command)
    assert cli.run(["schema"]) == Exit.INTERNAL_ERROR
    assert "expected a pipe with a reader" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_to_a_full_device_is_an_internal_error(tmp_path):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            own_process("conformance.cli", *CONFORMING), stdout=full, stderr=subprocess.PIPE, cwd=tmp_path
        )
    assert done.returncode == Exit.INTERNAL_ERROR
    assert b"No space left on device" in done.stderr
