"""The sink's step at the end of its input, by generation. Up to Flink 1.13 the end closes the sink."""

from collections.abc import Callable, Mapping

from model.events import Step
from model.sink.two_phase_commit import NEWEST_SINK, SINK_PROFILES, Sink, SinkProfile, on_close, on_finish

_ON_FINISH: Mapping[SinkProfile, Callable[[Sink], Step[Sink]]] = {
    SINK_PROFILES["1.9"]: on_close,
    NEWEST_SINK: on_finish,
}


def finish(sink: Sink) -> Step[Sink]:
    """The step of the sink's generation when its input has ended."""
    return _ON_FINISH[sink.profile](sink)
