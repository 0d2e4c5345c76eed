"""Injects planned faults into the driver and into workers.

A *fault point* is a point of the protocol at which a fault can happen (`impl.faults.Point`).
"""
