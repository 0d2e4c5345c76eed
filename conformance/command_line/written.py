"""Writes the files that the options of commands name, and creates missing folders."""

from pathlib import Path


def write(file: Path, content: str | bytes) -> None:
    """Write `content` into the file, a text as UTF-8. Creates the folder of the file if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
