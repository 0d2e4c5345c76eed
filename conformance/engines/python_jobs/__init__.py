"""The job of the campaigns for engines that are used from Python; each file runs in the environment of its engine."""
