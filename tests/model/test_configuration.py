"""Model and implementation refuse a configuration with unknown or impossible values."""

import pytest

from impl.core import COMPONENTS as IMPLEMENTED
from impl.core.errors import ConfigError
from model.components import COMPONENTS, WireError

REFUSED = [
    ("gate", {"channels": 2, "chanels": 9}, "chanels"),
    ("gate", {"channels": 32_769}, "32768"),
    ("gate", {"channels": 10**9}, "32768"),
    ("subtask", {"x": 1}, "x"),
    ("sink", {"x": 1}, "x"),
    *(
        (
            "gate",
            {"channels": 2, "level": "polled", "profile": "flink-1.9", "alignment_limit_bytes": limit},
            "-1",
        )
        for limit in (0, -2, -32_768)
    ),
]


@pytest.mark.parametrize(("component", "config", "named"), REFUSED)
def test_an_invalid_configuration_is_refused_on_both_sides(component, config, named):
    with pytest.raises(WireError, match=named):
        COMPONENTS[component].new(config)
    with pytest.raises(ConfigError, match=named):
        IMPLEMENTED[component](config)
