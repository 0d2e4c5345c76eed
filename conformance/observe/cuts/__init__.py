"""Validation of one large event log in parts, in parallel, with the result of one sequential validation.

`places` finds completed checkpoints at which the log can be cut, and the place of the cut in each file.
`assumed` builds the state of a replay at such a cut from the lines of that one checkpoint. `part` validates
the lines between two cuts, and `joined` compares the assumed states with those that the earlier parts have
reached. If all are equal, and no part has a finding, the parts together give the result of the log. Otherwise
the log is validated sequentially.
"""

from conformance.observe.cuts.joined import validate_in_parts

__all__ = ["validate_in_parts"]
