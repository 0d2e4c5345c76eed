"""Validation of one large event log in parts, side by side, with the result of one sequential validation.

`places` finds completed checkpoints at which the log can be cut, and where in each file. `assumed` builds the
state of a replay at such a cut from the lines of that one checkpoint. `part` validates the lines between two
cuts, and `joined` compares the assumed states with those that the parts before have reached. Only if all are
equal, and no part has found anything, the parts stand for the log; else it is validated sequentially.
"""

from conformance.observe.cuts.joined import validate_in_parts

__all__ = ["validate_in_parts"]
