"""The configuration of a model: what TLC reads beside a module, made from the manifest."""

from typing import NamedTuple

Constant = int | bool | tuple[int, ...]
"""A number, a truth value, or a set of numbers."""


class Configuration(NamedTuple):
    """The statements of a configuration file."""

    specification: str
    """The formula that describes the behaviours."""
    constants: tuple[tuple[str, Constant], ...] = ()
    """Each declared constant that has a value, with it."""
    replaced: tuple[tuple[str, str], ...] = ()
    """(operator or declared constant, the definition in its place)."""
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @property
    def checked(self) -> tuple[str, ...]:
        """The invariants, then the properties."""
        return self.invariants + self.properties

    def unchecked(self) -> "Configuration":
        """The configuration without invariants and properties: a violation would cut the graph short."""
        return self._replace(invariants=(), properties=())

    def text(self, comment: str = "") -> str:
        """The configuration as TLC reads it; `comment`: one line, put first."""
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
