"""Model and implementation refuse a `restore` of a region without tasks, or with an unknown task."""

import pytest

from conformance.adapters.choose import ours
from conformance.adapters.protocol import Errored

TASKS = [{"id": "source", "source": True}, {"id": "sink", "source": False}]
LATEST = {"kind": "restore"}


@pytest.mark.parametrize("side", ["model", "impl"])
@pytest.mark.parametrize(
    "fields",
    [
        {"scope": "region"},
        {"scope": "region", "tasks": []},
        {"scope": "region", "tasks": ["source", "map"]},
        {"scope": "all", "tasks": ["map"]},
        {"tasks": ["source", "map"]},
    ],
)
def test_a_restore_without_tasks_or_of_unknown_ones_is_refused_and_changes_nothing(side, fields):
    refused, untouched = ours(side), ours(side)
    for adapter in (refused, untouched):
        adapter.new("coordinator", {"tasks": TASKS})

    assert isinstance(refused.apply([LATEST | fields]), Errored)
    assert refused.apply([LATEST]) == untouched.apply([LATEST])


@pytest.mark.parametrize("side", ["model", "impl"])
@pytest.mark.parametrize(
    "fields", [{"scope": "all"}, {"tasks": ["sink"]}, {"scope": "region", "tasks": ["sink"]}]
)
def test_a_restore_of_known_tasks_is_answered(side, fields):
    adapter = ours(side)
    adapter.new("coordinator", {"tasks": TASKS})

    assert not isinstance(adapter.apply([LATEST | fields]), Errored)
