"""Drives implementations: implementation and model take the same events, and each answer is compared.

`oracle` gives the permitted answers, `lockstep` plays one case, `loop` the cases of any source; `shrinking`
leaves only the events that a divergence needs, `signatures` recognises known ones. `examine` examines one
component, `conform` one implementation, `implementations` several; `smoke` checks an adapter, and `stream`
sends many cases at once.
"""
