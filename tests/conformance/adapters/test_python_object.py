"""`--adapter module:attribute` runs an implementation of the user's folder in this process."""

import pytest

from conformance import cli
from conformance.adapters.choose import open_adapter
from conformance.adapters.protocol import Applied, Crashed, Errored, Hung, Made, Malformed, Unsupported
from conformance.errors import InputError
from conformance.skeletons import skeleton, write_skeleton
from conformance.verdict import Exit

EVENT = {"kind": "snapshot", "checkpoint": 1, "offsets": 7}
OFFSETS = """
class Offsets:
    def __init__(self, config):
        config.clear()
    def apply(self, event):
        event.pop("checkpoint")
        {body}
    def observe(self):
        return {{}}
components = {{"offsets": Offsets}}
"""


@pytest.mark.rule("ALIGN-12")
def test_the_skeleton_conforms_in_process_and_a_defect_in_it_is_found(user_folder, capsys):
    write_skeleton(skeleton("python"), user_folder, keep=False)
    command = ["conform", "--adapter", "barrierspec_adapter:components", "--no-suites", "--examples", "2"]
    assert cli.run(command) == Exit.CONFORMS
    assert "conform   barrierspec_adapter:components 0, seed 0" in capsys.readouterr().out

    broken = (
        (user_folder / "barrierspec_adapter.py")
        .read_text()
        .replace("return []\n        self", "pass\n        self")
    )
    (user_folder / "broken_adapter.py").write_text(broken)
    assert cli.run([*command[:2], "broken_adapter:components", *command[3:]]) == Exit.DIVERGES
    assert "DIVERGES  ALIGN-12" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("return ({'kind': 'commit_offsets'},)", Applied([[{"kind": "commit_offsets"}]], {})),
        ("raise ValueError('not here')", Errored("not here", 0)),
        ("raise NotImplementedError('later')", Unsupported("later")),
        ("return {}['x']", Crashed),
        ("raise SystemExit(0)", Crashed),
        ("return [object()]", Malformed),
        ("return [['kind']]", Malformed),
        ("\n        while True: pass", Hung),
        ("__import__('threading').Event().wait()", Hung),
    ],
)
def test_exceptions_and_output_of_the_object_are_answers_and_do_not_affect_the_suite(
    user_folder, body, answer
):
    name = f"offsets_{abs(hash(body))}"
    (user_folder / f"{name}.py").write_text(OFFSETS.format(body=body))
    limit = 0.2 if answer is Hung else 60.0
    adapter, config, event = open_adapter(f"{name}:components", limit), {"remembered": 2}, dict(EVENT)

    assert isinstance(adapter.new("offsets", config), Made)
    answered = adapter.apply([event])
    assert answered == answer if isinstance(answer, tuple) else isinstance(answered, answer)
    assert (config, event) == ({"remembered": 2}, EVENT)


def test_a_factory_and_events_at_once_have_a_time_limit_too(user_folder):
    waits = "threading.Event().wait()"
    (user_folder / "waits.py").write_text(
        f"import threading\nclass Slow:\n    def __init__(self, config):\n        if config: {waits}\n"
        f"    def apply(self, event):\n        {waits}\ncomponents = {{'offsets': Slow}}\n"
    )
    adapter = open_adapter("waits:components", 0.2)

    assert "in __init__" in adapter.new("offsets", {"remembered": 1}).stderr
    adapter.seconds = 60.0
    assert isinstance(adapter.new("offsets", {}), Made)
    adapter.seconds = 0.2
    assert isinstance(adapter.apply_at_once([EVENT, EVENT]), Hung)
    assert isinstance(adapter.apply([EVENT]), Errored)


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("no_such_module:components", "No module named"),
        ("little:other", "no attribute 'other'"),
        ("little:number", "no attribute 'items'"),
        ("little:wrong", "expected a list of strings"),
        ("leaves:components", "SystemExit: 3"),
        ("model.gate:components", "barrierspec has a package of this name; rename the module"),
    ],
)
def test_an_unusable_object_is_a_usage_error(user_folder, named, why):
    (user_folder / "little.py").write_text(
        "number = 1\nclass Gate:\n    modes = 'aligned'\nwrong = {'gate': Gate}\n"
    )
    (user_folder / "leaves.py").write_text("raise SystemExit(3)\n")

    with pytest.raises(InputError, match=why):
        open_adapter(named)
