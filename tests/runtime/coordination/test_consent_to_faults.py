"""The driver answers a task at a planned fault, as long as no task has failed."""

import pytest

from impl.spark.channels.handshake import Credentials
from impl.spark.channels.messages import AnswerFault, Disconnected, Failed, FaultReached, Finished
from impl.spark.faults.driver import FaultyWorkers


class Injector:
    """Allows every fault."""

    def claim(self, number, task):
        return True


@pytest.fixture
def workers(monkeypatch):
    made = FaultyWorkers("127.0.0.1", Credentials(b"secret", 1), ("a", "b"), Injector(), None)
    sent = []
    monkeypatch.setattr(
        "impl.spark.channels.control_channel.Workers.send", lambda _, *words: sent.append(words)
    )
    yield made, sent
    made.close()


@pytest.mark.parametrize(
    ("reports", "is_answered"),
    [
        ([], True),
        ([Finished(3), Disconnected("the end")], True),
        ([Disconnected("lost")], False),
        ([Failed("broken", secondary=False, final=False)], False),
        ([Finished(3), Disconnected("the end"), Disconnected("lost")], True),
    ],
)
def test_the_exit_of_a_finished_task_is_no_failure(workers, reports, is_answered):
    """Without an answer the task would wait until its round ends."""
    made, sent = workers
    for report in reports:
        made._reports.put(("a", report))
        assert made.receive(1) == ("a", report)
    made._reports.put(("b", FaultReached(0)))
    assert made.receive(0) is None
    assert sent == [("b", AnswerFault(True))] * is_answered
