"""How implementations are driven: beside the model, and compared after every step.

`oracle` gives the permitted answers, `lockstep` plays one case, `loop` the cases of any source; `shrinking`
leaves only the events that a divergence needs, `signatures` recognises known ones. `examine` examines one
component, `conform` one implementation, `several` many; `smoke` checks an adapter, `stream` sends many cases.
"""
