package barrierspec.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The effects of one event in wire form, in order. */
class Effects {
    private List<Map<String, Object>> effects = new ArrayList<>();

    /** An effect of this kind, then the name and the value of each field in turn. */
    static Map<String, Object> effect(String kind, Object... fields) {
        Map<String, Object> effect = new TreeMap<>();
        effect.put("kind", kind);
        for (int i = 0; i < fields.length; i += 2) {
            effect.put((String) fields[i], fields[i + 1]);
        }
        return effect;
    }

    /** The effects since the last call. */
    List<Map<String, Object>> take() {
        List<Map<String, Object>> taken = effects;
        effects = new ArrayList<>();
        return taken;
    }

    /** Adds an effect. */
    void add(String kind, Object... fields) {
        effects.add(effect(kind, fields));
    }

    /** One more effect, which exists already. */
    void add(Map<String, Object> effect) {
        effects.add(effect);
    }

    void block(int channel) {
        add("block", "channel", channel);
    }

    void resume(int channel) {
        add("resume", "channel", channel);
    }

    void prioritise(int channel) {
        add("prioritise", "channel", channel);
    }

    /** Records that the operator receives a record. `persisted`: the snapshot contains it too. */
    void process(int channel, Object value, boolean persisted) {
        add(persisted ? "persist" : "process", "channel", channel, "value", value);
    }

    void trigger(long checkpoint, boolean unaligned) {
        add("trigger", "checkpoint", checkpoint);
        if (unaligned) {
            effects.get(effects.size() - 1).put("unaligned", true);
        }
    }

    void abort(long checkpoint, String reason) {
        add("abort", "checkpoint", checkpoint, "reason", reason);
    }

    void startPersisting(long checkpoint) {
        add("start_persisting", "checkpoint", checkpoint);
    }

    void stopPersisting(long checkpoint) {
        add("stop_persisting", "checkpoint", checkpoint);
    }

    /** Reports an exception of Flink by its class. Its message contains names of objects, which differ by run. */
    void fail(Throwable thrown) {
        String message = String.valueOf(thrown.getMessage());
        boolean repeated = message.contains("Repeated barrier");
        add("fail", "error", repeated ? "repeated barrier" : thrown.getClass().getSimpleName());
    }
}
