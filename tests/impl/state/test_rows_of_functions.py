"""Functions of users that do not return the expected rows: the error names the function."""

import pytest

from impl.spark.worker.processing import ProcessOperator
from impl.state import HeapKeyedStateBackend, NotRowsError
from impl.state.timers import ProcessingTimeTimers


class Forgetful:
    """Returns its argument where rows are expected."""

    def __init__(self, returned):
        self.returned = returned

    def process_element(self, key, row):
        return self.returned

    def on_timer(self, key, timestamp):
        return self.returned


class Wrong(Forgetful):
    """Raises an error because of its own defect."""

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


@pytest.mark.parametrize(
    ("function", "error"),
    [(Wrong(None), "unsupported operand"), (Forgetful(map(int, [[]])), "int.. argument must be")],
)
def test_an_error_of_the_function_itself_is_not_changed(function, error):
    keyed = ProcessOperator(function, {0: lambda row: row[0]}, HeapKeyedStateBackend(), clock=lambda: 11)
    with pytest.raises(TypeError, match=error):
        keyed.inputs[0]([("a",)])


class Pair:
    """Two rows that can only be read by index."""

    def __getitem__(self, index):
        return [("a", 1), ("b", 2)][index]


def test_rows_by_index_are_rows():
    timers = ProcessingTimeTimers(HeapKeyedStateBackend(), Forgetful(Pair()).on_timer, lambda: 11)
    timers.register_processing_time_timer("a", 10)
    assert timers.fire(1) == [("a", 1), ("b", 2)]
