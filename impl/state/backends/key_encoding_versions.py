"""The encoding of the keys in a snapshot, and the reading of older encodings.

A snapshot of keyed state has the section `key-encoding` with the number of its encoding. A snapshot without
this section has encoding 1. Encoding 1 computed the key group of some types of keys from their `repr`, and
RocksDB stored these keys as pickles, so equal keys could have several states. A restore reads a snapshot of
encoding 1 only if both encodings give each of its keys the same group and the same bytes. It rejects any
other such snapshot, because a function would not find the state of some key.
"""

from collections.abc import Hashable, Iterable
from typing import Final

from impl.state.backends.key_bytes import key_of
from impl.state.backends.key_groups import key_group
from impl.state.errors import KeyEncodingError, UnsupportedKeyError
from impl.state.sections import Sections
from impl.state.snapshot import encode

ENCODING: Final = 2
SECTION: Final = "key-encoding"


def encoding_section() -> dict[str, bytes]:
    """The section `key-encoding` with the current encoding."""
    return {SECTION: encode(ENCODING)}


def encoding_of(snapshot: Sections) -> int:
    """The number of a snapshot's encoding. Raises KeyEncodingError for an encoding of a newer release."""
    found = snapshot.read(SECTION) if SECTION in snapshot else 1
    if not isinstance(found, int) or not 1 <= found <= ENCODING:
        raise KeyEncodingError(
            f"{snapshot.file}: expected keys of an encoding up to {ENCODING}, got {found!r}; restore it "
            "with the release that wrote it, or a newer one"
        )
    return found


def require_same_groups(
    keys: Iterable[Hashable], groups: Iterable[int], max_parallelism: int, file: str
) -> None:
    """Raise KeyEncodingError unless each key of an older snapshot still belongs to its recorded group."""
    for key, group in zip(keys, groups, strict=True):
        try:
            there = key_group(key, max_parallelism)
        except UnsupportedKeyError as cause:
            raise outdated(file, key, str(cause)) from cause
        if there != group:
            raise outdated(file, key, f"it is in key group {group}, and now belongs to {there}")


def read_earlier(entry: bytes, file: str) -> tuple[Hashable, bytes]:
    """The key at the beginning of an entry of encoding 1, and the bytes after it.

    Raises KeyEncodingError for a pickled key. `file`: the snapshot, for the message.
    """
    try:
        return key_of(entry)
    except KeyEncodingError as cause:
        raise KeyEncodingError(
            f"{file} was written by an earlier release, which kept some keys as pickles and several states "
            "of equal keys. Start the job from its beginning, or restore with the release that wrote it"
        ) from cause


def outdated(file: str, key: object, why: str) -> KeyEncodingError:
    """The error for a key to which an earlier release has given another key group. `why`: the difference."""
    return KeyEncodingError(
        f"{file} was written by an earlier release, which could keep several states of equal keys of type "
        f"{type(key).__name__}, for example {key!r}: {why}. Start the job from its beginning, or restore it "
        "with the release that wrote it"
    )
