"""Connections between the processes of one attempt: handshake, frames, credits, inbox and outputs."""
