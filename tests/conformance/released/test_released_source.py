"""Comparing the source's task of a release: with the model in its place, and with the newest release."""

import subprocess

import pytest

from conformance.adapters.flink.adapter import SECONDS, command
from conformance.adapters.flink.releases import FlinkError, newest
from conformance.adapters.in_process import InProcess
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Errored, Made, Unsupported
from conformance.drive.lockstep import replay
from conformance.parts.released import SEARCHES, conform_one, targets_of
from conformance.parts.released import Order as Numbers
from conformance.released import comparison as driver
from conformance.released.source import SourceSearch, target
from conformance.verdict import Verdict
from model.components import COMPONENTS


class Instance:
    """The model's source as an implementation; `mended` changes its state after each event."""

    def __init__(self, config, mended=lambda state: state):
        self._state, self._mended = COMPONENTS["source"].new(config), mended

    def apply(self, event):
        state, effects, _ = COMPONENTS["source"].apply(self._state, event)
        self._state = self._mended(state)
        return effects

    def observe(self):
        return COMPONENTS["source"].observe(self._state)


def played(factory, version="9.9.9", profile="1.15"):
    """The cases of tours and walks, and the divergences that they find."""
    one = target(version, profile)
    adapter = InProcess("source", {"source": factory}, ())
    search = SourceSearch(adapter, one, driver.Conformed(one))
    cases = [*search.tours(20), *search.random(30, 1)]
    runs = [replay(case.oracle, adapter, case.events) for case in cases]
    assert all(run.stopped is None for run in runs)
    return cases, [run.divergence for run in runs if run.divergence is not None]


@pytest.mark.parametrize("profile", ["1.10", "1.14", "1.15"])
def test_every_event_and_every_kind_of_source_is_sent_and_the_model_conforms(profile):
    cases, found = played(Instance, profile=profile)
    kinds = {event["kind"] for case in cases for event in case.events}
    assert kinds == {"trigger", "induce", "ended", "status"}
    assert {case.oracle.config["external"] for case in cases} == {"reader", "function", "no"}
    assert found == []
    assert SEARCHES["source"] is SourceSearch


@pytest.mark.rule("TASK-23")
def test_a_source_that_forgets_an_announced_checkpoint_is_seen():
    _, found = played(lambda config: Instance(config, lambda state: state._replace(ahead=())))
    assert {one.config["external"] for one in found} == {"reader"}


@pytest.mark.rule("TASK-21")
@pytest.mark.rule("TASK-22")
@pytest.mark.parametrize(
    ("profile", "other", "kinds"),
    [
        ("1.14", "1.10", {"reader", "function", "no"}),
        ("1.15", "1.14", {"reader"}),
    ],
)
def test_a_source_of_another_generation_is_seen(profile, other, kinds):
    _, found = played(lambda config: Instance({**config, "profile": other}), profile=profile)
    assert {one.config["external"] for one in found} == kinds


class NoReaderError(Exception):
    """The implementation has no readers."""


@pytest.mark.parametrize("has_readers", [False, True])
def test_the_readers_that_a_release_lacks_are_reported(has_readers):
    def made(config):
        if config["external"] == "reader" and not has_readers:
            raise NoReaderError("no reader")
        return Instance(config)

    done = driver.Conformed(target("1.10.3", "1.10"))
    search = SourceSearch(InProcess("source", {"source": made}, (), (NoReaderError,)), done.target, done)
    assert search.begin() is not has_readers
    assert done.not_offered == ([] if has_readers else ["no reader"])
    assert isinstance(done.stopped, Errored) is has_readers


def test_a_release_without_a_profile_is_skipped():
    from conformance.adapters.flink.releases import release

    (one,) = targets_of(release("1.9.3"), (), (), ("source",))
    done = conform_one(one, Numbers(1, 0))
    assert done.skipped
    assert "no profile" in done.stopped.describe()


@pytest.fixture(scope="module")
def serving():
    """The command of the newest Flink. The jar comes from the cache or is fetched."""
    try:
        return command(newest())
    except FlinkError as cannot:
        pytest.skip(f"Flink {newest().version} is not driven here: {cannot}")


def test_the_newest_release_conforms(serving):
    (one,) = targets_of(newest(), (), (), ("source",))
    with ProcessAdapter(serving, SECONDS) as adapter:
        done = driver.conform(adapter, one, 30, tour_nodes=10, kind=SourceSearch)
    assert done.verdict is Verdict.CONFORMS, done
    assert done.rules == {"TASK-21", "TASK-22", "TASK-23", "TASK-24"}
    assert done.fields == ("ahead", "reads", "running", "told")


@pytest.mark.rule("TASK-22")
@pytest.mark.rule("TASK-23")
def test_a_reader_of_the_newest_release_waits_for_its_trigger(serving):
    with ProcessAdapter(serving, SECONDS) as adapter:
        assert adapter.new("source", {"external": "reader"}) == Made()
        came = adapter.apply([{"kind": "induce", "checkpoint": 1}, {"kind": "trigger", "checkpoint": 1}])
        assert isinstance(adapter.new("source", {"external": "maybe"}), Unsupported)
    begins = {"kind": "trigger", "checkpoint": 1}
    assert came.effects == [[{"kind": "stop_reading"}], [begins, {"kind": "go_on_reading"}]]


@pytest.mark.rule("TASK-23")
def test_the_mailbox_of_the_newest_release_reads_before_the_snapshot(serving):
    """A defect of the releases from 1.15 on: `docs/verify/released-flinks.md`."""
    main = serving.index("barrierspec.flink.Main")
    program = [*serving[:main], "barrierspec.flink.ReadsTooEarly"]
    shown = subprocess.run(program, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert shown.stdout.splitlines() == [
        "the source reads",
        "the hook announces checkpoint 1",
        "the trigger of checkpoint 1 arrives",
        "the source reads",
        "the snapshot of checkpoint 1 begins",
    ]
