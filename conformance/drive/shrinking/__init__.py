"""Shrinking: finds the simplest case of a divergence, of a hang or of a flaky answer.

`shrink` leaves out events and channels, `simplest` also simplifies ids and the configuration, and `evidence`
keeps to the budget of hangs and flaky answers.
"""
