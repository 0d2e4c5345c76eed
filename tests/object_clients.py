"""An object store in a dict, whose answers can be lost or refused: an `ObjectClient` for tests."""

from impl.state.errors import StorageError
from impl.state.locations import ObjectFiles, Retries
from impl.state.locations.object_client import UnansweredError

FAILED, LOST, REFUSED = "failed", "lost", "refused"
"""Not carried out; carried out without an answer; refused for good."""


class Clock:
    """A clock that only `sleep` advances."""

    def __init__(self):
        self.now = 0.0

    def sleep(self, seconds):
        self.now += seconds


class FaultyClient:
    """An object store in memory.

    `faults`: the failures of the next requests, in order; later requests succeed.
    """

    def __init__(self, *faults, objects=None):
        self.objects = {} if objects is None else objects
        self.faults = list(faults)
        self.requests = []
        self.before = {}
        """By request: called before it is carried out, once."""

    def files(self, seconds=60.0):
        clock = Clock()
        return ObjectFiles("s3://bucket", self, "job", Retries(seconds, lambda: clock.now, clock.sleep))

    def _request(self, kind, name, carry_out):
        self.requests.append((kind, name))
        self.before.pop(kind, lambda: None)()
        fault = self.faults.pop(0) if self.faults else None
        if fault == FAILED:
            raise UnansweredError(f"{name}: 503 Slow Down")
        if fault == REFUSED:
            raise StorageError(f"{name}: the store refuses these credentials")
        answer = carry_out()
        if fault == LOST:
            raise UnansweredError(f"{name}: connection reset")
        return answer

    def _object(self, name):
        if name not in self.objects:
            raise FileNotFoundError(name)
        return self.objects[name]

    def create(self, name, data, writer):
        def write():
            if name in self.objects:
                raise FileExistsError(name)
            self.objects[name] = (data, writer)

        self._request("create", name, write)

    def put(self, name, data):
        content = data if isinstance(data, bytes) else data.read_bytes()
        self._request("put", name, lambda: self.objects.__setitem__(name, (content, "")))

    def writer_of(self, name):
        return self._request("writer_of", name, lambda: self._object(name)[1])

    def get(self, name):
        return self._request("get", name, lambda: self._object(name)[0])

    def get_range(self, name, at, length):
        return self._request("get_range", name, lambda: self._object(name)[0][at : at + length])

    def parts(self, name):
        content = self._request("get", name, lambda: self._object(name)[0])
        yield content[: len(content) // 2]
        if self.faults and self.faults[0] == "cut":
            self.faults.pop(0)
            raise UnansweredError(f"{name}: connection closed before the end")
        yield content[len(content) // 2 :]

    def size(self, name):
        return self._request("size", name, lambda: len(self._object(name)[0]))

    def entries(self, prefix):
        def level():
            inside = f"{prefix}/" if prefix else ""
            names = [name.removeprefix(inside) for name in self.objects if name.startswith(inside)]
            folders = {name.partition("/")[0] for name in names if "/" in name}
            sizes = {name: len(self.objects[inside + name][0]) for name in names if "/" not in name}
            return tuple(sorted(folders)), sizes

        return self._request("entries", prefix, level)

    def delete(self, name):
        self._request("delete", name, lambda: self.objects.pop(name, None))
