"""Where a run took place."""

import re

from conformance import machine


def test_the_commit_or_the_version():
    assert re.fullmatch(r"[0-9a-f]{7,}(\+changes)?|\d+[.+]\w[\w.+]*", machine.source())


def test_the_facts():
    here = machine.machine()

    assert here.cores == machine.cores() >= 1
    assert here.describe().startswith(f"{here.cores} cores, Python {here.python}, Java ")
