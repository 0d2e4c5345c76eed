"""The configuration of a model: the file (`.cfg`) that TLC reads in addition to a module.

`spec.manifest` makes it from the manifest.
"""

from typing import NamedTuple

Constant = int | bool | tuple[int, ...]
"""A number, a truth value, or a set of numbers."""


class Configuration(NamedTuple):
    """The statements of a configuration file."""

    specification: str
    """The name of the formula that defines the behaviours, such as `Spec`."""
    constants: tuple[tuple[str, Constant], ...] = ()
    """(declared constant, its value)."""
    replaced: tuple[tuple[str, str], ...] = ()
    """(operator or declared constant, the name of the definition that replaces it)."""
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @property
    def checked(self) -> tuple[str, ...]:
        """The names of the invariants, followed by those of the properties."""
        return self.invariants + self.properties

    def unchecked(self) -> "Configuration":
        """The configuration without invariants and properties, for a dump of the whole state graph.

        TLC stops at a violation, and the graph would then be incomplete.
        """
        return self._replace(invariants=(), properties=())

    def text(self, comment: str = "") -> str:
        """The text of the configuration file. `comment`: its first line, without the comment sign."""
        constants = [f"{name} = {_written(value)}" for name, value in self.constants]
        replaced = [f"{name} <- {other}" for name, other in self.replaced]
        lines = [f"\\* {comment}"] if comment else []
        lines.append(f"SPECIFICATION {self.specification}")
        for heading, body in (
            ("CONSTANTS", constants + replaced),
            ("INVARIANTS", self.invariants),
            ("PROPERTIES", self.properties),
        ):
            if body:
                lines += [heading, *(f"    {line}" for line in body)]
        return "\n".join(lines) + "\n"


def _written(value: Constant) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    return "{" + ", ".join(str(member) for member in value) + "}"
