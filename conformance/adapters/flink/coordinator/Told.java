package barrierspec.flink;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * Writes what a coordinator does as effects of the protocol, in the order in which it does it.
 *
 * <p>Flink deletes in the background, and in the order of its hash maps. So what is deleted at once is told in
 * one order: state by task, or by its registration if it is shared; with `checkpointsFirst` behind all
 * checkpoints that are deleted with it, else behind the last one before it.
 */
final class Told {
    private static final class Effect {
        final TreeMap<String, Object> fields = new TreeMap<>();
        boolean isDiscard;
        boolean isCheckpoint;
        long order;
    }

    private final boolean checkpointsFirst;
    private String lastReason = "unknown";
    private final List<Effect> effects = new ArrayList<>();

    Told(boolean checkpointsFirst) {
        this.checkpointsFirst = checkpointsFirst;
    }

    /** The effects of one event begin. */
    void begin() {
        effects.clear();
    }

    /** The effects of the event are complete. */
    void end(StringBuilder out) {
        for (int at = 0; at < effects.size(); at++) {
            int from = at;
            while (at < effects.size() && effects.get(at).isDiscard) {
                at++;
            }
            arrange(effects.subList(from, at));
        }
        char before = '[';
        for (Effect effect : effects) {
            Json.write(effect.fields, out.append(before));
            before = ',';
        }
        out.append(before == '[' ? "[]" : "]");
    }

    private void arrange(List<Effect> discards) {
        if (checkpointsFirst) {
            discards.sort(Comparator.comparing(effect -> !effect.isCheckpoint));
        }
        for (int at = 0; at < discards.size(); at++) {
            int from = at;
            while (at < discards.size() && !discards.get(at).isCheckpoint) {
                at++;
            }
            discards.subList(from, at).sort(Comparator.comparingLong(effect -> effect.order));
        }
    }

    /** One effect: its kind, then names and values in turn; ids are Long. */
    void tell(String kind, Object... fields) {
        Effect effect = new Effect();
        effect.fields.put("kind", kind);
        for (int i = 0; i < fields.length; i += 2) {
            effect.fields.put((String) fields[i], fields[i + 1]);
        }
        effects.add(effect);
    }

    /** A pending checkpoint has ended for this reason. */
    void abort(long checkpoint, String reason) {
        tell("abort", "checkpoint", checkpoint, "reason", reason);
        lastReason = reason;
    }

    /** The job fails for this reason, or where none is known for that of the last abort. */
    void failJob(String reason) {
        tell("fail_job", "reason", reason == null ? lastReason : reason);
    }

    /** A checkpoint is deleted. */
    void discard(long checkpoint) {
        tell("discard", "checkpoint", checkpoint);
        effects.get(effects.size() - 1).isDiscard = true;
        effects.get(effects.size() - 1).isCheckpoint = true;
    }

    /** A piece of state is deleted. */
    void discard(String state, long order) {
        tell("discard", "state", state);
        effects.get(effects.size() - 1).isDiscard = true;
        effects.get(effects.size() - 1).order = order;
    }
}
