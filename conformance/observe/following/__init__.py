"""An event log that is validated while its run writes it: `growing_log` reads it, `run_watch` replays it."""
