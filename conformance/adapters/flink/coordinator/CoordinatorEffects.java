package barrierspec.flink;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The effects of a coordinator as objects of the protocol, in the order in which they occur.
 *
 * <p>Flink deletes in the background, and in the order of its hash maps. So this class sorts consecutive
 * deletions: private state by task, shared state by its registration. With `checkpointsFirst` all checkpoints
 * come before all state; otherwise state is sorted only between one checkpoint and the next.
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

    /** Starts to collect the effects of one event. */
    void begin() {
        effects.clear();
    }

    /** The effects since `begin`, sorted as the class describes. */
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

    /** Adds an effect: its kind, then the name and the value of each field in turn. Ids are of type Long. */
    void add(String kind, Object... fields) {
        effects.add(new Effect(Effects.effect(kind, fields)));
    }

    /** Records that a pending checkpoint was aborted for this reason. */
    void abort(long checkpoint, String reason) {
        add("abort", "checkpoint", checkpoint, "reason", reason);
        lastReason = reason;
    }

    /** Sets the reason for the case that the job fails next. */
    void failsFor(String reason) {
        lastReason = reason;
    }

    /** Records that a request was rejected for this reason. */
    void rejected(String type, String reason) {
        add("rejected", "type", type, "reason", reason);
        lastReason = reason;
    }

    /** Records that the job fails. If `reason` is null, the reason is that of the last abort or rejection. */
    void failJob(String reason) {
        add("fail_job", "reason", reason == null ? lastReason : reason);
    }

    /** True: later deletions are no effects. False: they are effects again. */
    void muteDiscards(boolean mutes) {
        mutesDiscards = mutes;
    }

    /** Records that a checkpoint is deleted. */
    void discard(long checkpoint) {
        if (mutesDiscards) {
            return;
        }
        add("discard", "checkpoint", checkpoint);
        effects.get(effects.size() - 1).isDiscard = true;
        effects.get(effects.size() - 1).isCheckpoint = true;
    }

    /** Records that a piece of state is deleted. `order` sorts it among those that are deleted together. */
    void discard(String state, long order) {
        if (mutesDiscards) {
            return;
        }
        add("discard", "state", state);
        effects.get(effects.size() - 1).isDiscard = true;
        effects.get(effects.size() - 1).order = order;
    }
}
