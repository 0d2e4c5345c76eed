"""Run as `python -P -m conformance.drive.again`: plays the case of a written test, JSON on stdin.

It is a process of its own, so that packages of a reader's project and ours do not meet, whatever their names.
"""

import json
import sys

from conformance.drive.saved import assert_conforms


def main() -> None:
    """Ends with 1 and the story if the case does not conform."""
    try:
        assert_conforms(*json.load(sys.stdin))
    except AssertionError as departs:
        sys.exit(str(departs))


if __name__ == "__main__":
    main()
