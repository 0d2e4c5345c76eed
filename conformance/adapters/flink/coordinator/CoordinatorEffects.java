package barrierspec.flink;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The effects of a coordinator as objects of the protocol, in the order in which they occur.
 *
 * <p>Flink deletes in the background, and in the order of its hash maps. So objects that are deleted together
 * are put in one order: state by task, or by its registration if it is shared; with `checkpointsFirst` after
 * all checkpoints that are deleted with it, else after the last one before it.
 */
final class CoordinatorEffects {
    private static final class Effect {
        final Map<String, Object> fields;
        boolean isDiscard;
        boolean isCheckpoint;
        long order;

        Effect(Map<String, Object> fields) {
            this.fields = fields;
        }
    }

    private final boolean checkpointsFirst;
    private String lastReason = "unknown";
    private final List<Effect> effects = new ArrayList<>();
    private boolean mutesDiscards;

    CoordinatorEffects(boolean checkpointsFirst) {
        this.checkpointsFirst = checkpointsFirst;
    }

    /** The effects of one event begin. */
    void begin() {
        effects.clear();
    }

    /** The effects of the event are complete. */
    List<Map<String, Object>> end() {
        for (int at = 0; at < effects.size(); at++) {
            int from = at;
            while (at < effects.size() && effects.get(at).isDiscard) {
                at++;
            }
            arrange(effects.subList(from, at));
        }
        List<Map<String, Object>> ended = new ArrayList<>();
        for (Effect effect : effects) {
            ended.add(effect.fields);
        }
        return ended;
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
    void add(String kind, Object... fields) {
        effects.add(new Effect(Effects.effect(kind, fields)));
    }

    /** A pending checkpoint has ended for this reason. */
    void abort(long checkpoint, String reason) {
        add("abort", "checkpoint", checkpoint, "reason", reason);
        lastReason = reason;
    }

    /** If the job fails next, it fails for this reason. */
    void failsFor(String reason) {
        lastReason = reason;
    }

    /** A request has started nothing for this reason. */
    void rejected(String type, String reason) {
        add("rejected", "type", type, "reason", reason);
        lastReason = reason;
    }

    /** The job fails for this reason, or where none is known for that of the last abort or rejection. */
    void failJob(String reason) {
        add("fail_job", "reason", reason == null ? lastReason : reason);
    }

    /** From now on what is deleted is no effect, or is one again. */
    void muteDiscards(boolean mutes) {
        mutesDiscards = mutes;
    }

    /** A checkpoint is deleted. */
    void discard(long checkpoint) {
        if (mutesDiscards) {
            return;
        }
        add("discard", "checkpoint", checkpoint);
        effects.get(effects.size() - 1).isDiscard = true;
        effects.get(effects.size() - 1).isCheckpoint = true;
    }

    /** A piece of state is deleted. */
    void discard(String state, long order) {
        if (mutesDiscards) {
            return;
        }
        add("discard", "state", state);
        effects.get(effects.size() - 1).isDiscard = true;
        effects.get(effects.size() - 1).order = order;
    }
}
