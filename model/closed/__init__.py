"""Closed models: each component with one declared environment, small enough to see every state.

`worlds` says what a closed model is, has those of the gate and the store, and hands out all small
ones; each other room has those of one component or mode.
"""
