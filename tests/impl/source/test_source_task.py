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
@pytest.mark.parametrize("profile", ["1.10", "1.15"])
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
@pytest.mark.parametrize(("profile", "declines"), [("1.15", True), ("1.10", False)])
def test_a_task_that_is_not_running_reports_it_and_from_1_15_on_declines(check, profile, declines):
    it = COMPONENTS["source"]({"external": "reader", "profile": profile})
    declined = "  decline checkpoint=1 reason=TASK_FAILURE\n" if declines else ""
    check(it, "status running=false\ntrigger checkpoint=1\n  answer checkpoint=1 accepts=false\n" + declined)


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
