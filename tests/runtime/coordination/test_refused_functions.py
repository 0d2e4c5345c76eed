"""Functions that the runtime could not call as declared are refused before the job starts."""

import pytest

from impl.config import ConfigError
from impl.job import Job, ParquetOutput, RateInput


class Everything:
    """A function with a method for each step, which is also an aggregate."""

    def __call__(self, row):
        return row

    def process_element(self, key, row):
        return [row]


def declare(step, function):
    stream = Job("job").source("numbers", RateInput(10))
    stream = stream.key_by("value") if step == "aggregate" else stream
    getattr(stream, step)("step", function)


HOOKS = (
    "open_timers",
    "on_timer",
    "notify_checkpoint_complete",
    "notify_checkpoint_aborted",
    "initialize_state",
    "snapshot_state",
)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("step", ["map", "flat_map", "filter", "map_batches", "aggregate"])
def test_a_method_that_only_process_calls_is_refused(step, hook):
    function = Everything()
    declare(step, function)
    setattr(function, hook, lambda *given: None)
    with pytest.raises(ConfigError, match=f"'step' has {hook}, which only a function .* use process"):
        declare(step, function)


def test_a_chained_keyed_function_takes_the_parallelism_of_its_stage():
    stream = Job("job").source("numbers", RateInput(10), 2).process("first", Everything()).chained_by("value")
    assert stream.aggregate("next", Everything()).job.stage("first").parallelism == 2


def test_a_method_of_c_that_does_not_state_its_arguments_is_taken():
    function = Everything()
    function.notify_checkpoint_complete = {}.pop
    declare("process", function)


# ---------------------------------------------------------------- chains


class Timed(Everything):
    def on_timer(self, key, timestamp):
        return ()


class WithoutArguments(Everything):
    def on_timer(self):
        return ()


ONE = Everything()


def numbers(name="numbers"):
    return Job("job").source(name, RateInput(10))


def first(name="a"):
    return numbers(f"numbers_{name}").process(name, Everything())


A = first()
PARTED = r"two branches behind 'a': one branch chains {} to it, the other chains {}\..*use forward\(\)"


def parted(branch):
    """A job with two sinks, one of which directly follows `a`."""
    output = ParquetOutput("out", None)
    return A.sink("all", output).together_with(branch(A).sink("some", output))


def plan_of(stream):
    return stream.sink("out", ParquetOutput("out", None)).plan()


@pytest.mark.parametrize(
    ("chain", "why"),
    [
        (lambda: numbers().chained().process("a", Everything()), "behind another function"),
        (lambda: plan_of(first().chained()), "'out' cannot be chained"),
        (lambda: first().union(first("b")).chained().process("c", Everything()), "of one input"),
        (lambda: first().chained().connect(first("b")).process("c", Everything()), "of one input"),
        (lambda: first().chained().process("c", Everything(), 2), "'a' of parallelism 1; leave the"),
        (lambda: first().chained_by("value").process("c", Everything(), 2), "'a' of parallelism 1"),
        (lambda: first().chained().process("no name", Everything()), "only letters, digits and _"),
        (lambda: plan_of(first().chained().process("a", Everything())), "a is used twice"),
        (lambda: plan_of(first().chained().process("c", Timed())), "'c' has timers, which belong to keys"),
        (lambda: first().chained().process("c", WithoutArguments()), "WithoutArguments.on_timer: expected"),
        (lambda: parted(lambda a: a.chained().process("b", Everything())), PARTED.format("nothing", "'b'")),
        (
            lambda: A.chained().process("b", ONE).union(A.chained().process("c", Everything())),
            PARTED.format("'b'", "'c'"),
        ),
        (
            lambda: numbers().process("a", ONE).chained().process("b", ONE),
            "'b': expected a separate function object",
        ),
    ],
)
def test_a_chain_that_cannot_run_is_refused(chain, why):
    with pytest.raises(ConfigError, match=why):
        chain()
