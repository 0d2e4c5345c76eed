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

/** Flink's store of completed checkpoints; an addition can be made to fail as one of a durable store can. */
final class Retained extends StandaloneCompletedCheckpointStore {
    /** How the next addition fails: `before`, `after` or `maybe` it is stored; null: not at all. */
    private String failing;
    private final List<CompletedCheckpoint> durable = new ArrayList<>();

    /** What was written of those whose addition failed: they are deleted in memory, and found again. */
    private final Map<CompletedCheckpoint, Map<OperatorID, OperatorState>> written = new IdentityHashMap<>();
    private final Runnable complete;

    /** `complete` is called when everything of a checkpoint is registered, and only its addition is left. */
    Retained(int retain, Runnable complete) {
        super(retain);
        this.complete = complete;
    }

    /** The next addition fails so. */
    void fail(String when) {
        failing = when;
    }

    /** What a new coordinator would find. */
    List<CompletedCheckpoint> durable() {
        List<CompletedCheckpoint> found = new ArrayList<>(durable);
        found.sort(Comparator.comparingLong(CompletedCheckpoint::getCheckpointID));
        return found;
    }

    /** Begin with what an earlier store has left, oldest first. */
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

    /** The job has ended so, or is given up: only what is suspended is kept for another coordinator. */
    void shut(JobStatus last) {
        if (last != JobStatus.SUSPENDED) {
            durable.clear();
        }
    }

    /** As a durable store does it: what a suspended job leaves belongs to another coordinator. */
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
            @SuppressWarnings("unchecked") // found again; a durable store drops them all, this one a single one
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
