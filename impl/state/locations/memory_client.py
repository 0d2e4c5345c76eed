"""Objects in the memory of one process: an `ObjectClient` that answers every request."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock


class MemoryClient:
    """Objects by name, each with the signature of its writer. `ObjectClient` documents the methods."""

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, str]] = {}
        self._creating = Lock()

    def create(self, name: str, data: bytes, writer: str) -> None:
        with self._creating:
            if name in self._objects:
                raise FileExistsError(name)
            self._objects[name] = bytes(data), writer

    def put(self, name: str, data: bytes | Path) -> None:
        content = data.read_bytes() if isinstance(data, Path) else bytes(data)
        with self._creating:
            self._objects[name] = content, ""

    def writer_of(self, name: str) -> str:
        return self._object(name)[1]

    def get(self, name: str) -> bytes:
        return self._object(name)[0]

    def get_range(self, name: str, at: int, length: int) -> bytes:
        return self.get(name)[at : at + length]

    def parts(self, name: str) -> Iterator[bytes]:
        yield self.get(name)

    def size(self, name: str) -> int:
        return len(self.get(name))

    def entries(self, prefix: str) -> tuple[tuple[str, ...], Mapping[str, int]]:
        folders: dict[str, None] = {}
        sizes: dict[str, int] = {}
        for name, (data, _) in [*self._objects.items()]:
            below = name.removeprefix(f"{prefix}/" if prefix else "")
            if below == name and prefix:
                continue
            first, _, rest = below.partition("/")
            if rest:
                folders[first] = None
            else:
                sizes[first] = len(data)
        return tuple(folders), sizes

    def delete(self, name: str) -> None:
        with self._creating:
            self._objects.pop(name, None)

    def _object(self, name: str) -> tuple[bytes, str]:
        try:
            return self._objects[name]
        except KeyError:
            raise FileNotFoundError(name) from None
