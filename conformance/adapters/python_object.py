"""The adapter of a Python implementation in this process: `--adapter module:attribute`.

The attribute maps components to factories, as in `components = {"gate": Gate}`. A factory takes the
configuration and makes an instance with `apply(event)`, which returns the effects, and `observe()`, which
returns the state. A factory may have the attributes `modes`, `profiles`, `capabilities` and `limits`, which
state its offer; a missing attribute offers everything that the protocol has. If the instance raises
ValueError, the answer is `error`; NotImplementedError: `unsupported`; any other exception: a crash. The
adapter copies configurations, events and answers through JSON. It checks answers like those of a process,
with the same time limit. A signal interrupts code that takes longer.
"""

import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Barrier, Thread, current_thread, main_thread
from typing import Any

import orjson

from conformance.adapters import frames, protocol
from conformance.adapters.in_process import InProcess, offer_of
from conformance.errors import InputError
from spec.vocabulary import vocabulary

NAMED = re.compile(r"(?!\d)[\w.]+:(?!\d)\w+")
"""The form `module:attribute` of `--adapter`."""
OWN = ("conformance", "impl", "model", "spec")
"""The top-level packages of barrierspec. A user's module with one of these names cannot be imported."""
SWITCH_SECONDS = 1e-6
"""The switch interval of threads for concurrent events. With Python's 5 ms few events would overlap."""


class TimeIsUp(BaseException):
    """Interrupts the user's code at the time limit. A BaseException: `except Exception` does not catch it."""


class PythonObject(InProcess):
    """Factories of a user, in this process. `seconds` is the time limit of one answer."""

    def __init__(
        self,
        name: str,
        version: str,
        factories: Mapping[str, Callable[[protocol.Wire], Any]],
        seconds: float = protocol.ANSWER_LIMIT_SECONDS,
    ) -> None:
        """Raises FrameError or TypeError if an attribute of a factory is not valid."""
        super().__init__(name, factories, (ValueError,), (NotImplementedError,))
        self.seconds = seconds
        offers = {component: _offer(component, factory) for component, factory in factories.items()}
        hello = frames.encode_answer(0, protocol.Hello(name, version, "python", offers))
        self._hello = frames.parse_answer(hello, 0, "hello")

    def hello(self) -> protocol.Hello:
        """The components of the mapping, each with the offer that its factory states."""
        assert isinstance(self._hello, protocol.Hello)
        return self._hello

    def new(self, component: str, config: protocol.Wire) -> protocol.Made | protocol.Failure:
        """Creates an instance from a copy of the configuration."""
        copied = orjson.loads(orjson.dumps(config))
        try:
            with _within(self.seconds):
                return super().new(component, copied)
        except TimeIsUp as late:
            return self._hung(late)

    def apply(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Sends copies of the events, and returns a copy of the answer; Malformed if it is not JSON."""
        copied = orjson.loads(orjson.dumps(events))
        try:
            with _within(self.seconds):
                return _copied(super().apply(copied), len(events))
        except TimeIsUp as late:
            return self._hung(late)

    def apply_at_once(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Applies each event in a separate thread. All threads begin at the same time."""
        instance, begins = self._instance, Barrier(len(events))
        if instance is None:
            return protocol.Errored("there is no instance; send `new` first")

        results: list[Callable[[], protocol.Effects]] = [list] * len(events)

        def apply(at: int, event: protocol.Wire) -> None:
            begins.wait()
            try:
                effects = instance.apply(event)
                results[at] = lambda: effects
            except BaseException as error:  # noqa: BLE001 - raised again below
                results[at] = _raising(error)

        interval = sys.getswitchinterval()
        copied = enumerate(orjson.loads(orjson.dumps(events)))
        threads = [
            Thread(target=apply, args=one, daemon=True) for one in copied
        ]  # daemon: a hanging thread may stay
        try:
            with _within(self.seconds):
                sys.setswitchinterval(SWITCH_SECONDS)
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                answer = self.answer(instance, [], (result() for result in results))
                return _copied(answer, len(events))
        except TimeIsUp as late:
            return self._hung(late)
        finally:
            sys.setswitchinterval(interval)

    def _hung(self, late: TimeIsUp) -> protocol.Hung:
        """Drops the instance. The answer has the traceback of the interrupted code as its stderr."""
        self._instance = None
        return protocol.Hung(self.seconds, "".join(traceback.format_exception(late)))


def _raising(error: BaseException) -> Callable[[], protocol.Effects]:
    def fail() -> protocol.Effects:
        raise error

    return fail


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises TimeIsUp in the block after `seconds`, and after each further `seconds` until the block ends.

    Only the main thread of a system with interval timers can be interrupted; elsewhere there is no limit.
    """
    if current_thread() is not main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    is_running = True

    def interrupt(*_: object) -> None:
        if is_running:
            raise TimeIsUp

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        is_running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def _copied(answer: protocol.Applied | protocol.Failure, events: int) -> protocol.Applied | protocol.Failure:
    """A copy of the answer through JSON, as from a process; Malformed if it is not JSON."""
    if not isinstance(answer, protocol.Applied):
        return answer
    try:
        copied = frames.parse_answer(frames.encode_answer(0, answer), 0, "apply", events)
    except (TypeError, ValueError) as wrong:
        return protocol.Malformed(str(wrong), "")
    assert isinstance(copied, protocol.Applied)
    return copied


def python_object(named: str, seconds: float = protocol.ANSWER_LIMIT_SECONDS) -> PythonObject:
    """The adapter for `module:attribute`. The current folder is on the search path. `seconds`: time limit.

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
        return PythonObject(named, version, {str(name): factory for name, factory in found.items()}, seconds)
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
