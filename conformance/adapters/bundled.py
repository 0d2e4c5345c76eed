"""The adapter of the bundled implementation, in this process.

Code that drives adapters reaches `impl` through this module and `bundled_durable` only. The contract in
pyproject.toml lists the other importers of `impl`, such as the commands that run jobs and the benchmarks.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from conformance.adapters.in_process import InProcess, Instance
from conformance.adapters.protocol import (
    OBSERVE,
    RESTART,
    Errored,
    Failure,
    Hello,
    Made,
    Unsupported,
    Visible,
    Wire,
)
from impl.core import COMPONENTS, ConfigError, ProtocolError, UnsupportedError
from spec.vocabulary import vocabulary


class Bundled(InProcess):
    """Adapts the protocol core of `impl`.

    An instance with a folder is the Parquet sink or the checkpoint storage of `impl`.
    """

    def __init__(self) -> None:
        components = {name: cast(Callable[[Wire], Instance], make) for name, make in COMPONENTS.items()}
        super().__init__("barrierspec-impl", components, (ProtocolError, ConfigError), (UnsupportedError,))

    def hello(self) -> Hello:
        """Offers `observe` and `restart` for the components with a folder, if pyarrow is installed."""
        hello = super().hello()
        if find_spec("pyarrow") is None:
            return hello
        durable = {
            name: offer._replace(capabilities=(*offer.capabilities, OBSERVE, RESTART))
            for name, offer in hello.components.items()
            if OBSERVE in vocabulary()[name].capabilities
        }
        return hello._replace(components={**hello.components, **durable})

    def new_in(self, component: str, config: Wire, folder: str) -> Made | Failure:
        """Make a sink or a store that continues from the data in the folder."""
        from conformance.adapters.bundled_durable import DURABLE

        make = DURABLE.get(component)
        if make is None:
            return Unsupported(f"a folder for {component}; offered for {', '.join(DURABLE)}")
        return self.make(lambda given: make(given, Path(folder)), config)

    def observe(self) -> Visible | Failure:
        """The data that a reader of the output, or of the checkpoints, can read."""
        from conformance.adapters.bundled_durable import DurableSink, DurableStore

        if not isinstance(self._instance, DurableSink | DurableStore):
            return Errored("no instance has a folder; send `new` with one first")
        return Visible(self._instance.visible())


def bundled_adapter() -> Bundled:
    """The bundled implementation, in this process."""
    return Bundled()
