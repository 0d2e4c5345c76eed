"""The adapter of the bundled implementation: the only room of the suite's drivers that imports `impl`."""

from collections.abc import Callable
from typing import cast

from conformance.adapters.in_process import InProcess, Instance
from conformance.adapters.protocol import Wire
from impl.core import COMPONENTS, ConfigError, ProtocolError, UnsupportedError


def bundled_adapter() -> InProcess:
    """The protocol core of `impl`, in this process."""
    components = {name: cast(Callable[[Wire], Instance], make) for name, make in COMPONENTS.items()}
    return InProcess("barrierspec-impl", components, (ProtocolError, ConfigError), (UnsupportedError,))
