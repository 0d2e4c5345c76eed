"""Drives implementations: implementation and model take the same events, and each answer is compared.

`oracle` gives the permitted answers, `lockstep` plays one case, `loop` plays the cases of any source.
`shrinking` leaves only the events that a divergence needs, `signatures` recognises known divergences.
`examine` examines one component, `conform` one implementation, `implementations` several implementations.
`smoke` checks an adapter, and `stream` sends many cases at once.
"""
