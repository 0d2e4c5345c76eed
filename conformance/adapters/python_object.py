"""The adapter of a Python implementation in this process: `--adapter module:attribute`.

The attribute maps components to factories, as in `components = {"gate": Gate}`. A factory takes the
configuration and makes an instance with `apply(event)`, which returns the effects, and `observe()`, which
returns the state. Its lists `modes`, `profiles` and `capabilities` and its `limits` state what it offers; a
list that it does not have stands for all words of the protocol. ValueError refuses, NotImplementedError is
`unsupported`, any other exception is a crash. Configurations, events and answers are copied and checked as
those of a process.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier
from typing import Any

import orjson

from conformance.adapters import frames, protocol
from conformance.adapters.in_process import InProcess, offer_of
from conformance.errors import InputError
from spec.vocabulary import vocabulary

NAMED = re.compile(r"(?!\d)[\w.]+:(?!\d)\w+")
"""What names an object of Python on a command line."""
OWN = ("conformance", "impl", "model", "spec")
"""Our own packages: in one process no module of a user can have these names."""
SWITCH_SECONDS = 1e-6
"""How soon another thread may run while events are taken at once; Python's 5 ms let few events overlap."""


class PythonObject(InProcess):
    """Factories of a user, in this process. There is no time limit: an answer that never comes is awaited."""

    def __init__(
        self, name: str, version: str, factories: Mapping[str, Callable[[protocol.Wire], Any]]
    ) -> None:
        """Raises FrameError, or TypeError, if what a factory states is no offer."""
        super().__init__(name, factories, (ValueError,), (NotImplementedError,))
        offers = {component: _offer(component, factory) for component, factory in factories.items()}
        hello = frames.encode_answer(0, protocol.Hello(name, version, "python", offers))
        self._hello = frames.parse_answer(hello, 0, "hello")

    def hello(self) -> protocol.Hello:
        """The components of the mapping, each with what its factory states."""
        assert isinstance(self._hello, protocol.Hello)
        return self._hello

    def new(self, component: str, config: protocol.Wire) -> protocol.Made | protocol.Failure:
        """As every adapter; the configuration is a copy."""
        return super().new(component, orjson.loads(orjson.dumps(config)))

    def apply(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """As every adapter; events and answer are copies; an answer that is no JSON is malformed."""
        return _copied(super().apply(orjson.loads(orjson.dumps(events))), len(events))

    def apply_at_once(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Each event in a thread of its own; they begin together."""
        instance, begins = self._instance, Barrier(len(events))
        if instance is None:
            return protocol.Errored("there is no instance; send `new` first")

        def applied(event: protocol.Wire) -> protocol.Effects:
            begins.wait()
            return instance.apply(event)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            with ThreadPoolExecutor(len(events)) as threads:
                futures = [threads.submit(applied, event) for event in orjson.loads(orjson.dumps(events))]
        finally:
            sys.setswitchinterval(interval)
        answer = self.answer(instance, [], (future.result() for future in futures))
        return _copied(answer, len(events))


def _copied(answer: protocol.Applied | protocol.Failure, events: int) -> protocol.Applied | protocol.Failure:
    """The answer as a process would have sent it; malformed if it is no JSON."""
    if not isinstance(answer, protocol.Applied):
        return answer
    try:
        copied = frames.parse_answer(frames.encode_answer(0, answer), 0, "apply", events)
    except (TypeError, ValueError) as wrong:
        return protocol.Malformed(str(wrong), "")
    assert isinstance(copied, protocol.Applied)
    return copied


def python_object(named: str) -> PythonObject:
    """The adapter for `module:attribute`; modules of the current folder are found.

    Raises InputError if the module cannot be imported, or has no such mapping.
    """
    module, _, attribute = named.partition(":")
    if module.partition(".")[0] in OWN:
        raise InputError(f"--adapter {named}: barrierspec has a package of this name; rename the module")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        imported = import_module(module)
        found = getattr(imported, attribute)
        version = str(getattr(imported, "__version__", "0"))
        return PythonObject(named, version, {str(name): factory for name, factory in found.items()})
    except (Exception, SystemExit) as wrong:
        expected = 'expected a mapping from components to factories, such as {"gate": Gate}'
        raise InputError(f"--adapter {named}: {expected}, got {type(wrong).__name__}: {wrong}") from wrong


def _offer(component: str, factory: Any) -> protocol.Offer:  # noqa: ANN401 - a class of the user
    known = offer_of(component) if component in vocabulary() else protocol.Offer((), (), ())
    return protocol.Offer(
        getattr(factory, "modes", known.modes),
        getattr(factory, "profiles", known.profiles),
        getattr(factory, "capabilities", known.capabilities),
        getattr(factory, "limits", known.limits),
    )
