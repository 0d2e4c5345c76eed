"""The snapshot steps of one subtask: trigger, barrier, snapshot, acknowledgement, notifications."""
