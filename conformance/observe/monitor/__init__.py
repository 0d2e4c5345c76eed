"""A monitor for jobs that run: `barrierspec trace flink --follow` and `--rest`.

`growing` reads files while they are written, `monitor` gives each line to its job, `job`, `checkpoints` and
`executions` judge what INFO shows, `live_replay` replays lines at DEBUG through the model, and `rest` judges
answers of Flink's REST interface. `reports` has what they report, `shown` and `prometheus` how it is shown,
and `watching` the loop. Everything that is kept is bounded.
"""
