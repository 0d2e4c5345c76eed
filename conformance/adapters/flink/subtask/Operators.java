package barrierspec.flink;

import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperator;

/** The operators and outputs of a task: what they receive is an effect. A chain of Flink's leads to them. */
final class Operators {
    static final String BROKEN = "the synchronous part of the snapshot failed";
    private final Effects effects;
    /** Whether the next synchronous part throws. */
    private boolean breaks;
    /** The asynchronous part of the last snapshot. */
    private FakeStateSnapshot written;

    Operators(Effects effects) {
        this.effects = effects;
    }

    /** An event for every output, as the wire calls it. */
    void broadcast(AbstractEvent event) {
        if (event instanceof CheckpointBarrier) {
            effects.add("broadcast_barrier", "checkpoint", ((CheckpointBarrier) event).getId());
        } else {
            effects.add("broadcast_cancel", "checkpoint", ((CancelCheckpointMarker) event).getCheckpointId());
        }
    }

    void breaksNext(boolean fails) {
        breaks = fails;
    }

    /** The asynchronous part of the snapshot that was taken last, once. */
    FakeStateSnapshot taken() {
        FakeStateSnapshot last = written;
        written = null;
        return last;
    }

    /** The synchronous part of a snapshot: what the asynchronous part is to write. */
    OperatorSnapshotFutures snapshot(long checkpoint) throws Exception {
        if (breaks) {
            throw new Exception(BROKEN);
        }
        effects.add("snapshot", "checkpoint", checkpoint);
        written = new FakeStateSnapshot(checkpoint, effects);
        OperatorSnapshotFutures parts = new OperatorSnapshotFutures();
        parts.setKeyedStateManagedFuture(written);
        return parts;
    }

    void notified(String kind, long checkpoint) {
        effects.add(kind, "checkpoint", checkpoint);
    }

    /** One operator that stands for all of them, where Flink's own chain notifies its operators. */
    @SuppressWarnings("unchecked")
    StreamOperator<Object> operator() {
        OperatorID id = new OperatorID();
        return Fakes.of(StreamOperator.class, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "getOperatorID":
                    return id;
                case "snapshotState":
                    return snapshot((Long) arguments[0]);
                case "notifyCheckpointComplete":
                    notified("notify_complete", (Long) arguments[0]);
                    return null;
                case "notifyCheckpointAborted":
                    notified("notify_abort", (Long) arguments[0]);
                    return null;
                default:
                    return Fakes.nothing(method.getReturnType());
            }
        });
    }
}
