"""The job of the campaigns for each Python engine. Each file runs in the environment of its engine."""
