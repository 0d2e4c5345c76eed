"""Writes the files of commands, and makes a missing folder."""

from pathlib import Path


def write(file: Path, content: str | bytes) -> None:
    """Write `content` into the file, a text as UTF-8. Makes the folder of the file if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
