"""The command `learn`: choose a configuration and an alphabet, learn the machine, compare, write, run TLC."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.protocol import Adapter, Hello
from conformance.drive.plan import Plan, for_offer
from conformance.errors import InputError
from conformance.learn import formats, tla
from conformance.learn.compare import Difference, compared
from conformance.learn.learn import Learned, learn
from conformance.suites.alphabet import Alphabet
from conformance.suites.machine import Machine
from conformance.suites.play import machine_of
from conformance.suites.registry import alphabets, configurations
from conformance.vectors.tla.text import NotInTlaError
from spec.tool_output import TlcError


class Order(NamedTuple):
    """The options of a run of `learn`."""

    component: str
    pinned: Mapping[str, object]
    """Values that the configuration has to have."""
    extra: int
    """k: the learned machine is right if the implementation has at most k states more."""
    out: Path
    """The folder to which the files are written."""
    with_tlc: bool
    may_go_on: Callable[[], bool] = lambda: True


class Outcome(NamedTuple):
    """The learned machine, and its differences from the model's."""

    alphabet: Alphabet
    model: Machine
    learned: Learned
    differences: tuple[Difference, ...]
    files: tuple[Path, ...]
    rules: tla.Checked | str
    """The result of TLC, or the reason why TLC was not run."""


def chosen(hello: Hello, order: Order) -> Alphabet:
    """The alphabet of the first configuration that is offered and has the pinned values.

    Raises InputError if there is none.
    """
    offer = hello.components.get(order.component)
    if offer is None:
        known = ", ".join(hello.components)
        raise InputError(f"the implementation does not offer {order.component}; choose one of {known}")
    plan = for_offer(Plan(0, 1, pinned=order.pinned), order.component, offer)
    for config in configurations(order.component, plan):
        for alphabet in alphabets(order.component, config, injects=plan.injects):
            return alphabet
    raise InputError(
        f"{order.component} has no alphabet for {dict(order.pinned)}; choose other values with --config, or "
        "another component"
    )


def learned(adapter: Adapter, alphabet: Alphabet, implementation: str, order: Order) -> Outcome:
    """Learn the machine, compare it with the model's, and write the files. Raises NotLearnedError."""
    model = machine_of(alphabet)
    found = learn(adapter, alphabet, order.extra, order.may_go_on)
    differences = tuple(compared(alphabet, model, found.machine))
    files, rules = _written(alphabet, found, model, differences, implementation, order)
    return Outcome(alphabet, model, found, differences, files, rules)


def _written(
    alphabet: Alphabet,
    found: Learned,
    model: Machine,
    differences: tuple[Difference, ...],
    implementation: str,
    order: Order,
) -> tuple[tuple[Path, ...], tla.Checked | str]:
    order.out.mkdir(parents=True, exist_ok=True)
    graph = formats.dot(found.machine)
    contents = {
        f"{alphabet.component}.json": formats.json(alphabet, found, model, differences),
        f"{alphabet.component}.dot": graph.encode(),
    }
    picture = formats.svg(graph)
    if picture is not None:
        contents[f"{alphabet.component}.svg"] = picture.encode()
    rules: tla.Checked | str
    try:
        module = tla.module_of(alphabet, found.machine, implementation)
        contents |= {f"{module.name}.tla": module.tla.encode(), f"{module.name}.cfg": module.cfg.encode()}
        rules = tla.checked(module) if order.with_tlc else "not requested"
    except NotInTlaError as why:
        rules = str(why)
    except TlcError as failed:
        rules = f"TLC failed: {failed}"
    for name, content in contents.items():
        (order.out / name).write_bytes(content)
    return tuple(order.out / name for name in contents), rules
