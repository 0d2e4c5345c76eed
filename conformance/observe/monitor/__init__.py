"""A monitor for jobs that run: `barrierspec trace flink --follow` and `--rest`.

`growing` reads files while they are written, `stamps` reads times of records, and `monitor` gives each line
to its job. `job`, `checkpoints` and `executions` judge lines at INFO, `live_replay` replays lines at DEBUG
through the model, and `rest` judges answers of Flink's REST interface. `reports` defines alarms and ended
checkpoints, `shown` and `prometheus` print them, and `watching` is the loop. Memory is bounded.
"""
