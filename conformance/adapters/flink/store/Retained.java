package barrierspec.flink;

//# before 1.12
import java.util.ArrayDeque;
//# end
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
//# before 1.10
import org.apache.flink.runtime.jobgraph.JobStatus;
//# end
//# from 1.10
import org.apache.flink.api.common.JobStatus;
//# end
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.StandaloneCompletedCheckpointStore;
import org.apache.flink.runtime.jobgraph.OperatorID;
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
import org.apache.flink.runtime.persistence.PossibleInconsistentStateException;
//# end

/** Flink's store of completed checkpoints. An addition can be made to fail, as in a durable store. */
final class Retained extends StandaloneCompletedCheckpointStore {
    /** When the next addition fails: `before` or `after` it is stored, `maybe`: Flink cannot know; null: never. */
    private String failing;
    private final List<CompletedCheckpoint> durable = new ArrayList<>();

    /** The state of checkpoints that were written although their addition failed. A new coordinator finds them. */
    private final Map<CompletedCheckpoint, Map<OperatorID, OperatorState>> written = new IdentityHashMap<>();
    private final Runnable complete;

    /** `complete` is called when all state of a checkpoint is registered, directly before it is added. */
    Retained(int retain, Runnable complete) {
        super(retain);
        this.complete = complete;
    }

    /** Makes the next addition fail; `when`: as in the field `failing`. */
    void fail(String when) {
        failing = when;
    }

    /** The checkpoints that a new coordinator would find, by id. */
    List<CompletedCheckpoint> durable() {
        List<CompletedCheckpoint> found = new ArrayList<>(durable);
        found.sort(Comparator.comparingLong(CompletedCheckpoint::getCheckpointID));
        return found;
    }

    /** Starts with the checkpoints that an earlier store has left, oldest first. */
    @SuppressWarnings("unchecked")
    void follow(Retained earlier) throws Exception {
        failing = earlier.failing;
        durable.addAll(earlier.durable());
        for (CompletedCheckpoint one : durable) {
            if (earlier.written.containsKey(one)) {
                one.getOperatorStates().putAll(earlier.written.get(one));
            }
        }
        ((Collection<CompletedCheckpoint>) Fields.get(this, "checkpoints")).addAll(durable);
//# from 1.15
        for (CompletedCheckpoint one : durable) {
            Object registry = getSharedStateRegistry();
            Reflect.callFilled(registry, "registerAllAfterRestored", one, mode());
        }
//# end
    }
//# from 1.15 before 1.20

    private static Object mode() {
        return org.apache.flink.runtime.jobgraph.RestoreMode.DEFAULT;
    }
//# end
//# from 1.20 before 2.0

    private static Object mode() {
        return org.apache.flink.core.execution.RestoreMode.DEFAULT;
    }
//# end
//# from 2.0

    private static Object mode() {
        return org.apache.flink.core.execution.RecoveryClaimMode.DEFAULT;
    }
//# end

    /** The job ends with this status. Only a suspended job leaves its checkpoints for another coordinator. */
    void shut(JobStatus last) {
        if (last != JobStatus.SUSPENDED) {
            durable.clear();
        }
    }

    /** Whether the job is suspended: then, as in a durable store, this store forgets its checkpoints, deleting none. */
    private boolean isLeft(JobStatus last) {
        if (last != JobStatus.SUSPENDED) {
            return false;
        }
        ((Collection<?>) Fields.get(this, "checkpoints")).clear();
        return true;
    }

//# before 1.12
    @Override
    public void shutdown(JobStatus last) throws Exception {
        if (!isLeft(last)) {
            super.shutdown(last);
        }
    }
//# end
//# from 1.12 before 1.13
    @Override
    public void shutdown(JobStatus last, CheckpointsCleaner cleaner, Runnable then) throws Exception {
        if (!isLeft(last)) {
            super.shutdown(last, cleaner, then);
        }
    }
//# end
//# from 1.13
    @Override
    public void shutdown(JobStatus last, CheckpointsCleaner cleaner) throws Exception {
        if (!isLeft(last)) {
            super.shutdown(last, cleaner);
        }
    }
//# end

    private void failing(CompletedCheckpoint checkpoint) throws Exception {
        complete.run();
        String when = failing;
        failing = null;
        if (when == null) {
            return;
        }
        if (!when.equals("before")) {
            durable.add(checkpoint);
            written.put(checkpoint, new HashMap<>(checkpoint.getOperatorStates()));
        }
//# from 1.12
        if (when.equals("maybe")) {
            throw new PossibleInconsistentStateException(new Exception("it may be stored"));
        }
//# end
        throw new Exception("the store failed " + when + " it was stored");
    }

    private void added(CompletedCheckpoint checkpoint, List<CompletedCheckpoint> before) {
        durable.add(checkpoint);
        before.removeAll(getAllCheckpoints());
        durable.removeAll(before);
    }

//# before 1.12
    @Override
    public void addCheckpoint(CompletedCheckpoint checkpoint) throws Exception {
        failing(checkpoint);
        List<CompletedCheckpoint> before = new ArrayList<>(getAllCheckpoints());
        for (int surplus = before.size() - getMaxNumberOfRetainedCheckpoints(); surplus > 0; surplus--) {
            @SuppressWarnings("unchecked") // restored ones too many: a durable store drops all, this one only one
            ArrayDeque<CompletedCheckpoint> held = (ArrayDeque<CompletedCheckpoint>) Fields.get(this, "checkpoints");
            held.removeFirst().discardOnSubsume();
        }
        super.addCheckpoint(checkpoint);
        added(checkpoint, before);
    }
//# end
//# from 1.12 before 1.15
    @Override
    public void addCheckpoint(CompletedCheckpoint checkpoint, CheckpointsCleaner cleaner, Runnable then) throws Exception {
        failing(checkpoint);
        List<CompletedCheckpoint> before = new ArrayList<>(getAllCheckpoints());
        super.addCheckpoint(checkpoint, cleaner, then);
        added(checkpoint, before);
    }
//# end
//# from 1.15
    @Override
    public CompletedCheckpoint addCheckpointAndSubsumeOldestOne(
            CompletedCheckpoint checkpoint, CheckpointsCleaner cleaner, Runnable then) throws Exception {
        failing(checkpoint);
        List<CompletedCheckpoint> before = new ArrayList<>(getAllCheckpoints());
        CompletedCheckpoint last = super.addCheckpointAndSubsumeOldestOne(checkpoint, cleaner, then);
        added(checkpoint, before);
        return last;
    }
//# end
}
