"""A thread of an attempt is a leftover until its resource is closed."""

import socket

from conformance.torture.leftovers import threads
from impl.spark.channels.handshake import Credentials, new_secret
from impl.spark.channels.listener import Listener
from tests.waiting import until


def test_an_open_listener_and_its_handshakes_are_leftovers():
    before = sorted(threads())
    listener = Listener("127.0.0.1", Credentials(new_secret(), 1), print, print, 65_536)
    with socket.create_connection((listener.host, listener.port)):
        until(lambda: listener.unauthenticated == 1)
        new = [one for one in threads() if one not in before]
        listener.close()

    assert sorted(new) == ["thread 'handshake' of the driver", "thread 'listener' of the driver"]
    until(lambda: sorted(threads()) == before)
