"""Starts one of the project's modules as a separate process.

`python -m` puts the folder that it is started in before everything else, and there a reader may have a
`model/` or a `spec.py`: with `-P` those are not taken for ours.
"""

import sys


def own_process(module: str, *words: str) -> list[str]:
    """The command line that runs `module` with these words, by this interpreter."""
    return [sys.executable, "-P", "-m", module, *words]
