"""The fencing component: several drivers share a storage."""

import pytest

from impl.core import COMPONENTS, ConfigError


@pytest.mark.rule("FENCE-01")
@pytest.mark.rule("FENCE-03")
@pytest.mark.rule("FENCE-04")
def test_a_driver_that_was_paused_after_its_publication_is_superseded(check):
    it = COMPONENTS["fencing"]({})
    check(
        it,
        """
draw driver=1
  drawn attempt=1
find driver=1
  found checkpoint=0
start driver=1
  started attempt=1 checkpoint=0
reserve driver=1
  reserved checkpoint=1
check driver=1
publish driver=1
  published checkpoint=1
draw driver=2
  drawn attempt=2
find driver=2
  found checkpoint=1
confirm driver=1
  superseded newest=2
start driver=2
  started attempt=2 checkpoint=1
confirm driver=2
  refused
""",
    )
    assert it.observe()["completed"] == []
    assert it.observe()["starts"] == [0, 1]


@pytest.mark.rule("FENCE-02")
@pytest.mark.rule("FENCE-05")
def test_an_open_attempt_is_closed_before_a_newer_one_looks_for_its_checkpoint(check):
    check(
        COMPONENTS["fencing"]({"drivers": 2}),
        """
draw driver=1
  drawn attempt=1
find driver=1
  found checkpoint=0
draw driver=2
  drawn attempt=2
find driver=2
  refused
close driver=2
  closed attempt=1
close driver=2
  refused
find driver=2
  found checkpoint=0
start driver=1
  superseded newest=2
fail driver=1
  refused
crash driver=1
  refused
draw driver=3
  refused
""",
    )


def test_the_number_of_drivers_is_bounded():
    with pytest.raises(ConfigError, match="at most 8"):
        COMPONENTS["fencing"]({"drivers": 9})
