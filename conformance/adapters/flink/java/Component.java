package barrierspec.flink;

import java.util.Map;

/** One instance under test: takes events, tells effects and the state. */
interface Component {
    /** Apply one event and write the list of its effects. */
    void take(Map<String, Object> event, StringBuilder out);

    /** Write the state after the last event. */
    void state(StringBuilder out);
}
