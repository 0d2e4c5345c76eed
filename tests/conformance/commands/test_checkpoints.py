"""`barrierspec checkpoints` lists the checkpoints of a job, and names those with an altered file."""

import pytest

from conformance import cli
from impl.state import CheckpointStorage, encode


@pytest.fixture
def folder(tmp_path):
    storage = CheckpointStorage(tmp_path)
    attempt = storage.new_attempt()
    storage.record_restored(attempt, None)
    for checkpoint in (3, 5):
        handles = [
            storage.write(checkpoint, "in-0", attempt, encode(checkpoint), offset=checkpoint * 1_000),
            storage.write(checkpoint, "count-0", attempt, encode({"key": checkpoint})),
        ]
        storage.publish(checkpoint, attempt, handles)
    return tmp_path


def test_ids_sizes_and_offsets_are_listed(folder, capsys):
    assert cli.run(["checkpoints", str(folder), "--tasks"]) == 0
    output = capsys.readouterr().out
    assert "5,000" in output
    assert "chk-5/count-0.1.state" in output
    assert output.count("whole") == 2
    assert "a resumed run starts from checkpoint 5" in output


def test_files_that_checkpoints_share_count_as_new_once(tmp_path, capsys):
    storage = CheckpointStorage(tmp_path)
    attempt = storage.new_attempt()
    (tmp_path / "table").write_bytes(b"x" * 100_000)
    shared = (storage.shared.add(tmp_path / "table", "count-0", attempt),)
    for checkpoint in (1, 2):
        handle = storage.write(checkpoint, "count-0", attempt, encode(checkpoint), shared=shared)
        storage.publish(checkpoint, attempt, [handle])

    assert cli.run(["checkpoints", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    size = handle.size
    assert f"{100_000 + size:,}   {100_000 + size:,}" in output
    assert f"{100_000 + size:,}   {size:,}" in output

    (tmp_path / shared[0].file).write_bytes(b"y" * 100_000)
    assert cli.run(["checkpoints", str(tmp_path)]) == 1
    assert "no checkpoint can be restored" in capsys.readouterr().out


def test_an_altered_checkpoint_is_named_and_a_resume_uses_the_one_before(folder, capsys):
    state = folder / "chk-5" / "count-0.1.state"
    data = bytearray(state.read_bytes())
    data[-1] ^= 1
    state.write_bytes(data)

    assert cli.run(["checkpoints", str(folder)]) == 1
    output = capsys.readouterr().out
    assert "checksum" in output
    assert "a resumed run starts from checkpoint 3" in output


def test_a_folder_without_checkpoints_is_not_reported_as_missing(tmp_path, capsys):
    CheckpointStorage(tmp_path / "fresh")
    assert cli.run(["checkpoints", str(tmp_path / "fresh")]) == 0
    assert "no checkpoint is complete" in capsys.readouterr().out

    assert cli.run(["checkpoints", str(tmp_path)]) == 64
    assert "expected a checkpoint folder" in capsys.readouterr().err
    assert not (tmp_path / "attempts").exists()
