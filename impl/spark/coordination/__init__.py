"""The driver's side of a job: attempts, the checkpoint coordinator, restore, final checkpoint."""
