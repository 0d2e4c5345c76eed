"""Functions with methods that the runtime would not call: refused where they are declared."""

import pytest

from impl.config import ConfigError
from impl.job import Job, RateInput


class Everything:
    """A function for each step, and an aggregate."""

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


def test_a_method_of_c_that_does_not_state_its_arguments_is_taken():
    function = Everything()
    function.notify_checkpoint_complete = {}.pop
    declare("process", function)
