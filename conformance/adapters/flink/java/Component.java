package barrierspec.flink;

import java.util.List;
import java.util.Map;

/** One instance under test. */
interface Component {
    /** Apply one event; returns its effects, as the protocol has them. */
    List<Map<String, Object>> take(Map<String, Object> event);

    /** What is observable after the last event. */
    Map<String, Object> state();
}
