package barrierspec.flink;

//# from 1.12
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.Executor;
import org.apache.flink.runtime.checkpoint.Checkpoint;
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.PendingCheckpoint;
import org.apache.flink.runtime.state.CompositeStateHandle;

/**
 * Flink's cleaner. Its deletions do not end until events end them one by one, oldest first.
 *
 * <p>The effects of a deletion occur when it begins. A clean-up that deletes nothing ends at once.
 */
final class SlowCleaner extends CheckpointsCleaner {
    private static final long serialVersionUID = 1L;

    private final transient CoordinatorEffects effects;
    private final transient Queue<Queue<Runnable>> underWay = new ArrayDeque<>();
    /** Checkpoints whose deletion has begun: one method of Flink's cleaner may call the other for the same one. */
    private final transient Set<Checkpoint> begun = Collections.newSetFromMap(new WeakHashMap<>());

    SlowCleaner(CoordinatorEffects effects) {
        this.effects = effects;
    }

    @Override
    public void cleanCheckpoint(Checkpoint checkpoint, boolean discards, Runnable then, Executor executor) {
        boolean begins = discards && !begun.contains(checkpoint);
        super.cleanCheckpoint(checkpoint, discards, then, begins ? begin(checkpoint) : executor);
    }

    @Override
    public void cleanCheckpointOnFailedStoring(CompletedCheckpoint checkpoint, Executor executor) {
        super.cleanCheckpointOnFailedStoring(checkpoint, begin(checkpoint));
    }

    /** Begins a deletion. Returns an executor that keeps the work of Flink until `endOldest`. */
    private Executor begin(Checkpoint checkpoint) {
        Queue<Runnable> work = new ArrayDeque<>();
        begun.add(checkpoint);
        underWay.add(work);
        discard(checkpoint);
        return work::add;
    }

    /** Deletes a checkpoint. From 1.15 on a pending one keeps its collected state, because Flink deletes it later. */
    private static void discard(Checkpoint checkpoint) {
        try {
            if (checkpoint instanceof PendingCheckpoint) {
                Map<?, ?> collected = (Map<?, ?>) Fields.get(checkpoint, "operatorStates");
                for (Object state : collected.values()) {
                    ((CompositeStateHandle) state).discardState();
                }
//# end
//# from 1.12 before 1.15
                collected.clear(); // else Flink would release registered files twice
//# end
//# from 1.12
                return;
            }
//# end
//# from 1.12 before 1.15
            checkpoint.discard();
//# end
//# from 1.15
            checkpoint.markAsDiscarded().discard();
//# end
//# from 1.12
        } catch (Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Ends the oldest deletion, if there is one. Flink then deletes the same objects again; that is no effect. */
    void endOldest() {
        underWay.removeIf(Queue::isEmpty); // these had nothing to delete
        Queue<Runnable> work = underWay.poll();
        effects.muteDiscards(true);
        while (work != null && !work.isEmpty()) {
            work.poll().run();
        }
        effects.muteDiscards(false);
    }
}
//# end
