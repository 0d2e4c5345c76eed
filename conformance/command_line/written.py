"""Files that commands write: their folder is made if it is missing."""

from pathlib import Path


def write(file: Path, content: str | bytes) -> None:
    """Write the file; a text is encoded as UTF-8."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
