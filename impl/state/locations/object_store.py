"""Files as objects below one prefix of an object store.

A write to the store must be atomic, and a read after the write must find the object (Amazon S3 guarantees
both). A publication is a conditional write, which the store refuses if the name exists. A folder is a prefix.
To reserve a folder, this module publishes the object `.reserved` in it.

A request that fails, is throttled or gets no answer is sent again within `Retries.seconds`. The store may
have executed it although the answer was lost. A repeated publication then finds that the name exists. So each
publication stores a random text with its object. If the name exists, it reads the text of the object, and has
succeeded if that is its own text.
"""

import hashlib
import os
import random
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from impl.state.digests import digest_of
from impl.state.durable import remove_file
from impl.state.errors import NoFileError, StorageError, storage_errors
from impl.state.locations.location import Location
from impl.state.locations.object_client import ObjectClient, UnansweredError

RESERVED: Final = ".reserved"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Retries:
    """A request is repeated for at most `seconds`.

    The maximum pause before a repetition doubles from 0.1 s up to 5 s. A pause has a random length, from half
    of the maximum to the maximum.
    """

    seconds: float = 60.0
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def pauses(self, tries: int) -> float:
        """The pause in seconds after `tries` failures. It is random, so that not all tasks repeat at once."""
        return min(5.0, 0.05 * (1 << min(tries, 10))) * random.uniform(0.5, 1.0)


class ObjectFiles(Location):
    """The objects below `prefix` in the store at `uri`. `Location` documents the methods."""

    def __init__(
        self, uri: str, client: ObjectClient, prefix: str = "", retries: Retries | None = None
    ) -> None:
        self._uri = uri
        self._client = client
        self._prefix = prefix
        self._retries = retries or Retries()

    @property
    def where(self) -> str:
        """The URI of this location."""
        return f"{self._uri}/{self._prefix}".rstrip("/")

    def below(self, folder: str) -> "ObjectFiles":
        return ObjectFiles(self._uri, self._client, self._key(folder), self._retries)

    # ------------------------------------------------------------ folders

    def make_folder(self, folder: str = "") -> None:
        pass  # a prefix needs no creation

    def reserve(self, folder: str) -> bool:
        return not self.sizes(folder) and self.publish(f"{folder}/{RESERVED}", b"")

    def remove_folder(self, folder: str = "") -> None:
        if not self.sizes(folder):
            self.remove(f"{folder}/{RESERVED}".lstrip("/"))

    def folders(self) -> tuple[str, ...]:
        return self._tried("listing", "", lambda: self._client.entries(self._prefix))[0]

    def sizes(self, folder: str = "") -> Mapping[str, int]:
        files = self._tried("listing", folder, lambda: self._client.entries(self._key(folder)))[1]
        return {name: size for name, size in files.items() if name != RESERVED}

    # ------------------------------------------------------------ files

    def publish(self, name: str, data: bytes, owner: str = "") -> bool:
        writer, key = secrets.token_hex(8), self._key(name)

        def create() -> bool:
            try:
                self._client.create(key, data, writer)
            except FileExistsError:
                try:
                    return self._client.writer_of(key) == writer
                except FileNotFoundError as removed:  # another process has removed it, so the name is free
                    raise UnansweredError(f"{removed}: removed while it was being published") from removed
            return True

        return self._tried("publishing", name, create)

    def replace(self, name: str, data: bytes) -> None:
        self._tried("writing", name, lambda: self._client.put(self._key(name), data))

    def write_unsettled(self, name: str, data: bytes) -> None:
        self.replace(name, data)

    def settle(self, folder: str = "") -> None:
        pass  # every object is durable already

    def add(self, name: str, source: Path) -> tuple[int, str]:
        with storage_errors("reading", source):
            size, digest = source.stat().st_size, digest_of(source)
        self._tried("sharing", name, lambda: self._client.put(self._key(name), source))
        return size, digest

    def scratch(self, name: str) -> Path:
        path = self.working() / name
        with storage_errors("creating", path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def adopt(self, name: str, staged: Path) -> tuple[int, str]:
        described = self.add(name, staged)
        remove_file(staged)
        return described

    def copy(self, name: str, origin: Location, there: str) -> None:
        with tempfile.TemporaryDirectory(prefix="barrierspec-") as folder:
            passing = Path(folder) / "file"
            origin.fetch(there, passing)
            self._tried("copying", name, lambda: self._client.put(self._key(name), passing))

    def fetch(self, name: str, target: Path) -> None:
        def download() -> None:
            with storage_errors("writing", target), target.open("wb") as file:
                for part in self._client.parts(self._key(name)):
                    file.write(part)

        self._tried("reading", name, download)

    def read(self, name: str) -> bytes:
        return self._tried("reading", name, lambda: self._client.get(self._key(name)))

    def read_range(self, name: str, at: int, length: int) -> bytes:
        if length <= 0:
            return b""
        return self._tried("reading", name, lambda: self._client.get_range(self._key(name), at, length))

    def size(self, name: str) -> int | None:
        try:
            return self._tried("reading", name, lambda: self._client.size(self._key(name)))
        except NoFileError:
            return None

    def digest(self, name: str) -> str:
        def read() -> str:
            digest = hashlib.blake2b(digest_size=32)
            for part in self._client.parts(self._key(name)):
                digest.update(part)
            return digest.hexdigest()

        return self._tried("reading", name, read)

    def move(self, name: str, target: str) -> None:
        with suppress(NoFileError):  # between the two requests, the file has both names
            self.replace(target, self.read(name))
            self.remove(name)

    def remove(self, name: str) -> bool:
        self._tried("removing", name, lambda: self._client.delete(self._key(name)))
        return True

    def working(self) -> Path:
        own = Path(tempfile.gettempdir()) / f"barrierspec-{os.getuid()}"
        with storage_errors("creating", own):
            own.mkdir(mode=0o700, exist_ok=True)
            if own.lstat().st_uid != os.getuid():
                raise StorageError(
                    f"{own}: expected a folder of this user, got another one; set TMPDIR to your own"
                )
        return own / hashlib.blake2b(self.where.encode(), digest_size=8).hexdigest()

    # ------------------------------------------------------------ requests

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}".strip("/")

    def _tried(self, doing: str, name: str, request: Callable[[], _T]) -> _T:
        """Send a request until the store answers it; returns the answer. `doing`: the action, for messages.

        Raises NoFileError if the object does not exist, StorageError after `Retries.seconds`.
        """
        until = self._retries.now() + self._retries.seconds
        tries = 0
        while True:
            try:
                return request()
            except FileNotFoundError as missing:
                raise NoFileError(
                    f"{doing} {self.where}/{name} failed: no such object; find out what has deleted it"
                ) from missing
            except UnansweredError as failed:
                tries += 1
                pause = self._retries.pauses(tries)
                if self._retries.now() + pause > until:
                    raise StorageError(
                        f"{doing} {self.where}/{name} failed {tries} times in {self._retries.seconds:g} s, "
                        f"the last time: {failed}; check that the object store answers and how many "
                        "requests it allows, then restart the job"
                    ) from failed
            self._retries.sleep(pause)
