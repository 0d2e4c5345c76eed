package barrierspec.flink;

import java.util.List;
import java.util.Map;

/** One instance under test. */
interface Component {
    /** Applies one event in wire form. Returns its effects in wire form. */
    List<Map<String, Object>> take(Map<String, Object> event);

    /** The observable state after the last event. */
    Map<String, Object> state();
}
