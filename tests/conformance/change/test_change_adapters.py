"""`diff` compares two versions of an implementation, and shows the model's answer for each difference."""

import json

import pytest

from conformance import cli
from conformance.skeletons import skeleton

ADAPTER = "barrierspec_adapter.py"
BARRIER = "def barrier(self, channel, checkpoint):"
QUICK = ("--config", "channels=2", "--no-suites", "--life", "0")


@pytest.fixture
def compared(user_folder, capsys):
    """A function that compares changed versions of the skeleton. Returns exit code, output and findings."""
    text = skeleton("python").files[ADAPTER]

    def compare(*changes, old=(), components=("--component", "gate"), played=QUICK):
        names = []
        for number, edits in enumerate((old, changes)):
            names.append(f"version_{abs(hash((edits, number)))}")
            changed = text
            for before, after in edits:
                assert changed.count(before) == 1
                changed = changed.replace(before, after)
            (user_folder / f"{names[-1]}.py").write_text(changed)
        adapters = [word for name in names for word in ("--adapter", f"{name}:components")]
        code = cli.run(["diff", *adapters, *components, "--examples", "1", *played, "--json", "found.json"])
        (part,) = json.loads((user_folder / "found.json").read_text())["parts"]
        return code, capsys.readouterr().out, part

    return compare


@pytest.mark.rule("ALIGN-03")
def test_a_difference_has_its_shortest_run_and_what_the_model_answers(compared):
    forgets = ('effects = self.abort(self.current, "SUBSUMED")', "effects = self.release()")
    code, printed, part = compared(forgets)
    (case,) = (found["case"] for found in part["findings"])

    assert code == 1
    assert [event["checkpoint"] for event in case["events"]] == [1, 2]
    assert (case["kind"], case["right"], case["rules"]) == ("changed", "old", ["ALIGN-03", "SUB-01"])
    assert [effect["kind"] for effect in case["model"]["effects"]] == ["resume", "abort", "block"]
    assert "         model  resume" in printed
    assert ", as old; ALIGN-03, SUB-01" in printed.replace("; as", ", as")

    code, _, part = compared(old=(forgets,))
    assert (code, part["findings"][0]["case"]["right"]) == (1, "new")


def test_the_same_version_is_compatible_also_where_both_are_wrong(compared):
    wrong = ("if self.is_late(checkpoint):\n            return []", "if False:\n            return []")
    code, printed, part = compared(wrong, old=(wrong,))

    assert (code, part["verdict"], part["findings"]) == (0, "CONFORMS", [])
    assert printed.rpartition("\n\n")[2].startswith("compatible   ")


@pytest.mark.parametrize(
    ("body", "kind", "shown"),
    [
        ("return {}['x']", "changed", "crashed (KeyError: 'x')"),
        ("raise ValueError('no')", "lost", "refused"),
        ("raise NotImplementedError('later')", "lost", "unsupported: later"),
    ],
)
def test_an_answer_that_is_missing_in_the_new_version_is_a_difference(compared, body, kind, shown):
    code, printed, part = compared((BARRIER, f"{BARRIER}\n        {body}"))

    assert code == 1
    assert {found["case"]["kind"] for found in part["findings"]} == {kind}
    assert f"           new  {shown}\n" in printed


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ('"pending": self.pending', '"pending": False', "changed"),
        (
            "            return []\n        self.current = checkpoint",
            "            raise ValueError\n        self.current = checkpoint",
            "lost",
        ),
    ],
    ids=["state", "refusal"],
)
def test_a_difference_without_other_effects_is_one(compared, before, after, kind):
    code, _, part = compared((before, after))

    assert code == 1
    assert {found["case"]["kind"] for found in part["findings"]} == {kind}


def test_a_capability_that_is_no_longer_offered_is_lost(compared):
    code, printed, part = compared(('["flink-1.14"]', '["flink-1.13"]'))
    assert (code, part["verdict"]) == (2, "UNDETERMINED")
    assert "no configuration that both offer" in printed

    code, printed, _ = compared(('["flink-1.14"]', '["flink-1.13", "flink-1.14"]'))
    assert code == 1
    assert "  gained   gate, profile flink-1.13; stated in hello\n" in printed
    assert printed.rpartition("\n\n")[2].startswith("weakening   ")


def test_a_smaller_limit_is_lost_and_nothing_beyond_it_is_compared(compared):
    limited = ('profiles = ["flink-1.14"]', 'profiles = ["flink-1.14"]\n    limits = {"ids": 2**31 - 1}')
    narrow = (BARRIER, f"{BARRIER}\n        checkpoint = min(checkpoint, 2**31)")
    code, printed, part = compared(limited, narrow)

    assert code == 1
    assert [found["case"]["config"] for found in part["findings"]] == [{"ids above": "2,147,483,647"}]
    assert printed.rpartition("\n\n")[2].startswith("strengthening   ")
    assert compared(narrow)[0] == 1


def test_a_difference_that_does_not_come_again_is_undetermined(compared):
    counted = "from itertools import count\nBARRIERS = count()\nNAME, VERSION"
    fails = f"{BARRIER}\n        if next(BARRIERS) % 100 == 99:\n            return []"
    code, printed, _ = compared(("NAME, VERSION", counted), (BARRIER, fails))

    assert code == 2
    assert "differed once, but not when the same events were sent again" in printed


@pytest.mark.parametrize(
    "given", [["--adapter", "impl"], ["main", "--adapter", "impl", "--adapter", "impl"], []]
)
def test_one_adapter_or_revisions_beside_adapters_are_errors_of_usage(given, capsys):
    assert cli.run(["diff", *given]) == 64
    assert "give --adapter OLD --adapter NEW" in capsys.readouterr().err


LATE_CANCELS = (
    (
        "if self.is_late(checkpoint):\n            return []",
        "if self.is_late(checkpoint):\n            self.late = 1\n            return []",
    ),
    (
        BARRIER,
        f"{BARRIER}\n        if vars(self).pop('late', 0) and self.closed and checkpoint == 19: return []",
    ),
)


@pytest.mark.parametrize(
    ("source", "changes", "played", "switched_off"),
    [
        ("wide gates", ((BARRIER, f"{BARRIER}\n        channel %= 32"),), QUICK[2:], QUICK),
        (
            "lives",
            ((BARRIER, f"{BARRIER}\n        if 100 < checkpoint < 1_000: return []"),),
            (*QUICK[:3], "--life", "150"),
            QUICK,
        ),
        (
            "suites",
            LATE_CANCELS,
            (*QUICK[:2], *QUICK[3:], "--config", "checkpoints_after_tasks_finish=true"),
            QUICK,
        ),
    ],
)
def test_wide_gates_long_lives_and_suites_each_find_differences_that_other_cases_miss(
    compared, source, changes, played, switched_off
):
    code, printed, _ = compared(*changes, played=played)

    assert code == 1
    assert f" of {source}" in " ".join(printed.split())
    assert compared(*changes, played=switched_off)[0] == 0
