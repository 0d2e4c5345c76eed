package barrierspec.flink;

import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
//# before 1.12
import org.apache.flink.runtime.checkpoint.CheckpointMetrics;
//# end
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointMetricsBuilder;
//# end
//# before 1.14
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.tasks.AbstractInvokable;
//# end
//# from 1.14
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointableTask;
//# end
//# from 1.11 before 1.12
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.flink.util.function.ThrowingRunnable;
//# end

/** The task that Flink notifies: each notification is an effect. */
//# before 1.14
final class Task extends AbstractInvokable {
//# end
//# from 1.14
final class Task implements CheckpointableTask {
//# end
    private static final String PREFIX = "CHECKPOINT_DECLINED_";
    private final Effects effects;
//# from 1.11 before 1.12
    private final Queue<ThrowingRunnable<? extends Exception>> mails = new ArrayDeque<>();
    private boolean elsewhere;
//# end

    Task(Effects effects) {
//# before 1.14
        super(Fakes.silent(Environment.class));
//# end
        this.effects = effects;
    }

//# before 1.12
    @Override
    public void triggerCheckpointOnBarrier(
            CheckpointMetaData data, CheckpointOptions options, CheckpointMetrics metrics) {
        triggered(data, options);
    }
//# end
//# from 1.12
    @Override
    public void triggerCheckpointOnBarrier(
            CheckpointMetaData data, CheckpointOptions options, CheckpointMetricsBuilder metrics) {
        triggered(data, options);
    }
//# end

    private void triggered(CheckpointMetaData data, CheckpointOptions options) {
        boolean unaligned = false;
//# from 1.11
        unaligned = options.isUnalignedCheckpoint();
//# end
        effects.trigger(data.getCheckpointId(), unaligned);
    }

//# before 1.13
    @Override
    public void abortCheckpointOnBarrier(long checkpoint, Throwable cause) {
        aborted(checkpoint, (CheckpointException) cause);
    }
//# end
//# from 1.13
    @Override
    public void abortCheckpointOnBarrier(long checkpoint, CheckpointException cause) {
        aborted(checkpoint, cause);
    }
//# end

    private void aborted(long checkpoint, CheckpointException cause) {
        String reason = cause.getCheckpointFailureReason().name();
        effects.abort(checkpoint, reason.startsWith(PREFIX) ? reason.substring(PREFIX.length()) : reason);
    }

//# before 1.14
    @Override
    public void invoke() {
        throw new AssertionError("a gate does not run its task");
    }
//# end
//# from 1.11 before 1.12

    @Override
    public <E extends Exception> void executeInTaskThread(
            ThrowingRunnable<E> work, String format, Object... arguments) throws E {
        if (elsewhere) {
            mails.add(work);
        } else {
            work.run();
        }
    }

    /** True: the network's thread runs, and its calls into the task wait in the mailbox. */
    void isElsewhere(boolean is) {
        elsewhere = is;
    }

    /** Runs the calls that wait in the mailbox. */
    void mail() throws Exception {
        while (!mails.isEmpty()) {
            mails.remove().run();
        }
    }
//# end
//# from 1.14
    @Override
    public CompletableFuture<Boolean> triggerCheckpointAsync(CheckpointMetaData data, CheckpointOptions options) {
        throw new AssertionError("a gate does not ask for this");
    }

    @Override
    public CompletableFuture<Void> notifyCheckpointCompleteAsync(long checkpoint) {
        throw new AssertionError("a gate does not ask for this");
    }

    @Override
    public CompletableFuture<Void> notifyCheckpointAbortAsync(long checkpoint, long completed) {
        throw new AssertionError("a gate does not ask for this");
    }
//# end
//# from 1.15

    @Override
    public CompletableFuture<Void> notifyCheckpointSubsumedAsync(long checkpoint) {
        throw new AssertionError("a gate does not ask for this");
    }
//# end
}
