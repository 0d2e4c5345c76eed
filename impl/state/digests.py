"""The checksum of a whole file."""

import hashlib
from pathlib import Path


def digest_of(path: Path) -> str:
    """The blake2b checksum of a whole file, 32 bytes, hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
