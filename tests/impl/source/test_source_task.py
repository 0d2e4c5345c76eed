"""The task of a source and the coordinator's trigger, for plain and for externally induced sources."""

import pytest

from impl.core import COMPONENTS, UnsupportedError
from model.components import COMPONENTS as MODELLED
from model.components import WireError


@pytest.mark.rule("TASK-21")
def test_a_plain_source_begins_with_its_trigger_and_has_no_hook(check):
    it = COMPONENTS["source"]({})
    check(it, "trigger checkpoint=1\n  trigger checkpoint=1\ninduce checkpoint=2\n  refused\n")
    assert it.observe() == {"running": True, "told": [], "ahead": [], "reads": True}


@pytest.mark.rule("TASK-21")
@pytest.mark.rule("TASK-22")
@pytest.mark.parametrize("profile", ["1.10", "1.14", "1.15"])
def test_an_induced_function_only_answers_and_begins_with_its_hook(check, profile):
    it = COMPONENTS["source"]({"external": "function", "profile": profile})
    check(
        it,
        """
trigger checkpoint=1
  answer checkpoint=1 accepts=true
induce checkpoint=7
  trigger checkpoint=7
""",
    )
    assert it.observe() == {"running": True, "told": [], "ahead": [], "reads": True}


@pytest.mark.rule("TASK-22")
@pytest.mark.rule("TASK-23")
def test_a_reader_needs_hook_and_trigger_and_reads_nothing_while_its_hook_is_ahead(check):
    it = COMPONENTS["source"]({"external": "reader"})
    check(
        it,
        """
trigger checkpoint=3
  answer checkpoint=3 accepts=true
induce checkpoint=4
  stop_reading
induce checkpoint=5
trigger checkpoint=4
  trigger checkpoint=4
""",
    )
    assert it.observe() == {"running": True, "told": [], "ahead": [5], "reads": False}
    check(it, "ended checkpoint=4\nended checkpoint=5\n  go_on_reading\nended checkpoint=5\n")
    assert it.reads


@pytest.mark.rule("TASK-21")
@pytest.mark.parametrize(("profile", "declines"), [("1.15", True), ("1.14", True), ("1.10", False)])
@pytest.mark.parametrize(
    ("external", "effect"), [("reader", "answer checkpoint=1 accepts=false"), ("no", "trigger checkpoint=1")]
)
def test_a_trigger_at_a_task_that_does_not_run_is_declined_from_1_14_on(
    check, profile, declines, external, effect
):
    it = COMPONENTS["source"]({"external": external, "profile": profile})
    declined = "  decline checkpoint=1 reason=TASK_FAILURE\n" if declines else ""
    check(it, f"status running=false\ntrigger checkpoint=1\n  {effect}\n{declined}")


@pytest.mark.rule("TASK-21")
@pytest.mark.rule("TASK-23")
def test_an_announced_checkpoint_of_a_task_that_does_not_run_begins_and_is_declined(check):
    check(
        COMPONENTS["source"]({"external": "reader"}),
        """
induce checkpoint=1
  stop_reading
status running=false
trigger checkpoint=1
  trigger checkpoint=1
  decline checkpoint=1 reason=TASK_FAILURE
  go_on_reading
""",
    )


@pytest.mark.rule("TASK-24")
@pytest.mark.parametrize("external", ["no", "function", "reader"])
def test_a_trigger_for_a_missing_task_is_refused_with_a_typed_error(check, external):
    it = COMPONENTS["source"]({"external": external})
    before = it.observe()
    check(it, "trigger checkpoint=1 to=elsewhere\n  fail error=CheckpointException\n")
    assert it.observe() == before


@pytest.mark.parametrize("config", [{"external": "maybe"}, {"profile": "1.9"}])
def test_options_that_are_not_offered_are_refused_by_model_and_implementation(config):
    with pytest.raises(UnsupportedError):
        COMPONENTS["source"](config)
    with pytest.raises(WireError):
        MODELLED["source"].new(config)
