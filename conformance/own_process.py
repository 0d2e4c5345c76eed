"""Starts one of the project's modules as a separate process.

`python -m` puts the current folder first in the module path. A user's folder may have its own `model/` or
`spec.py`; with `-P` Python does not import those instead of ours.
"""

import sys


def own_process(module: str, *words: str) -> list[str]:
    """The command line that runs `module` with these words, by this interpreter."""
    return [sys.executable, "-P", "-m", module, *words]
