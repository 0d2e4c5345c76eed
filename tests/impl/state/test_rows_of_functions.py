"""Functions of users that return no rows where rows are expected: the error names the function."""

import pytest

from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend, NotRowsError
from impl.state.timers import ProcessingTimeTimers


class Forgetful:
    """Returns what it is made with, where rows are expected."""

    def __init__(self, returned):
        self.returned = returned

    def process_element(self, key, row):
        return self.returned

    def on_timer(self, key, timestamp):
        return self.returned


class Wrong(Forgetful):
    """Has a defect of its own."""

    def process_element(self, key, row):
        return [None + row]


@pytest.mark.parametrize("returned", [None, 7])
def test_a_function_that_returns_no_rows_is_named(returned):
    backend = HeapKeyedStateBackend()
    keyed = ProcessOperator(Forgetful(returned), {0: lambda row: row[0]}, backend, clock=lambda: 11)
    timers = ProcessingTimeTimers(backend, Forgetful(returned).on_timer, lambda: 11)
    timers.register_processing_time_timer("a", 10)

    with pytest.raises(NotRowsError, match=rf"Forgetful.on_timer returned {returned}: expected the rows"):
        timers.fire(1)
    with pytest.raises(NotRowsError, match=r"Forgetful.process_element returned no rows \(.*return \[\]"):
        keyed.inputs[0]([("a",)])


def test_an_error_of_the_function_itself_stays_its_own():
    keyed = ProcessOperator(Wrong(None), {0: lambda row: row[0]}, HeapKeyedStateBackend())
    with pytest.raises(TypeError, match="unsupported operand"):
        keyed.inputs[0]([("a",)])
