package barrierspec.flink;

import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperator;

/** Fake operators and outputs of a task. Each call that reaches them from Flink's chain is an effect. */
final class Operators {
    static final String BROKEN = "the synchronous part of the snapshot failed";
    private final Effects effects;
    /** Whether the next synchronous part of a snapshot throws. */
    private boolean breaks;
    /** The asynchronous part of the last snapshot. */
    private FakeStateSnapshot written;

    Operators(Effects effects) {
        this.effects = effects;
    }

    /** Records an event that the task sends to every output, under its name in the adapter protocol. */
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

    /** Returns the asynchronous part of the last snapshot, and forgets it. */
    FakeStateSnapshot taken() {
        FakeStateSnapshot last = written;
        written = null;
        return last;
    }

    /** The synchronous part of a snapshot. Returns the futures that the asynchronous part will run. */
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

    /** The one operator of the chain up to 1.13, where Flink notifies the operators itself. */
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
