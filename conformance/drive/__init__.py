"""How implementations are driven: the model beside the implementation, compared after every step.

`oracle` is what the model expects; `lockstep` plays a case and finds the divergence; `shrink` leaves only
the events it needs. Cases come from seeded `walks` (drawn by `generate`), from Hypothesis `machines`, and
from `tours` of a state graph. `examine` does all of it for one component and gives the verdict.
"""
