package barrierspec.flink;

import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.execution.Environment;
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointMetricsBuilder;
//# end
//# before 1.12
import org.apache.flink.runtime.checkpoint.CheckpointMetrics;
//# end
//# from 1.10
import java.util.concurrent.Future;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterDelegate;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;
//# end
//# before 1.10
import java.util.Collections;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.io.network.api.writer.EventWriter;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.taskmanager.CheckpointResponder;
import org.apache.flink.runtime.taskmanager.Task;
import org.apache.flink.streaming.runtime.tasks.CheckpointExceptionHandlerFactory;
//# end

/**
 * The calls of a coordinator and of a gate to a task. A mail of the mailbox runs at once.
 *
 * <p>1.9 has no mailbox: the calls of the coordinator go through `Task`, and run at once. Up to 1.10 no call
 * notifies a task of an abort, and up to 1.14 no call notifies it of a dropped checkpoint.
 */
final class TaskCalls {
    private final RestoredTask task;
//# from 1.10
    private final MailboxProcessor mailbox = new MailboxProcessor(controller -> {});
    private Future<?> answer;

    TaskCalls(RestoredTask task, Operators operators, Environment environment) {
        this.task = task;
        Reflect.set(task, "environment", environment);
        Reflect.set(task, "mailboxProcessor", mailbox);
        Reflect.set(task, "recordWriter", Fakes.of(RecordWriterDelegate.class, (proxy, method, arguments) -> {
            if (method.getName().equals("broadcastEvent")) {
                operators.broadcast((AbstractEvent) arguments[0]);
            }
            return Fakes.nothing(method.getReturnType());
        }));
        prepare();
    }
//# end
//# from 1.11

    private void prepare() {
        Reflect.set(task, "actionExecutor", StreamTaskActionExecutor.IMMEDIATE);
        Reflect.set(task, "mainMailboxExecutor", mailbox.getMainMailboxExecutor());
    }

    /** The coordinator triggers the task, as it does at a source. */
    void trigger(long checkpoint) {
        answer = task.triggerCheckpointAsync(
                new CheckpointMetaData(checkpoint, 0), CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    void notifyComplete(long checkpoint) {
        answer = task.notifyCheckpointCompleteAsync(checkpoint);
    }
//# end
//# from 1.12

    /** The gate triggers the task, at a barrier. */
    void triggerOnBarrier(long checkpoint) throws Exception {
        task.triggerCheckpointOnBarrier(
                new CheckpointMetaData(checkpoint, 0),
                CheckpointOptions.forCheckpointWithDefaultLocation(),
                new CheckpointMetricsBuilder().setAlignmentDurationNanos(0).setBytesProcessedDuringAlignment(0));
    }
//# end
//# before 1.12

    /** The gate triggers the task, at a barrier. */
    void triggerOnBarrier(long checkpoint) throws Exception {
        task.triggerCheckpointOnBarrier(
                new CheckpointMetaData(checkpoint, 0),
                CheckpointOptions.forCheckpointWithDefaultLocation(),
                new CheckpointMetrics());
    }
//# end
//# from 1.14

    void notifyAbort(long checkpoint, long completed) {
        answer = task.notifyCheckpointAbortAsync(checkpoint, completed);
    }
//# end
//# from 1.11 before 1.14

    void notifyAbort(long checkpoint, long completed) {
        answer = task.notifyCheckpointAbortAsync(checkpoint);
    }
//# end
//# before 1.11

    void notifyAbort(long checkpoint, long completed) {}
//# end
//# from 1.15

    void notifySubsumed(long checkpoint) {
        answer = task.notifyCheckpointSubsumedAsync(checkpoint);
    }
//# end
//# before 1.15

    void notifySubsumed(long checkpoint) {}
//# end
//# from 1.10 before 1.11

    private void prepare() {
        Reflect.set(task, "actionExecutor", StreamTaskActionExecutor.synchronizedExecutor());
    }

    /** The coordinator triggers the task, as it does at a source. */
    void trigger(long checkpoint) {
        answer = task.triggerCheckpointAsync(
                new CheckpointMetaData(checkpoint, 0), CheckpointOptions.forCheckpointWithDefaultLocation(), false);
    }

    void notifyComplete(long checkpoint) {
        answer = task.notifyCheckpointCompleteAsync(checkpoint);
    }
//# end
//# from 1.10

    /** Runs the waiting mails. Throws what they throw. */
    void settle() throws Exception {
        Future<?> called = answer;
        answer = null;
        mailbox.drain();
        if (called != null && called.isDone()) {
            called.get();
        }
    }
//# end
//# before 1.10
    private final Task around = Bare.of(Task.class);

    TaskCalls(RestoredTask task, Operators operators, Environment environment) {
        this.task = task;
        Reflect.set(task, "environment", environment);
        Reflect.set(task, "lock", new Object());
        Reflect.set(task, "syncSavepointLatch", Reflect.make(Reflect.type(task, "syncSavepointLatch")));
        Reflect.set(task, "recordWriters", Collections.singletonList(writer(operators)));
        Reflect.set(
                task, "checkpointExceptionHandler",
                new CheckpointExceptionHandlerFactory().createCheckpointExceptionHandler(environment));
        Reflect.set(around, "jobId", new JobID());
        Reflect.set(around, "executionId", new ExecutionAttemptID());
        Reflect.set(around, "taskNameWithSubtask", "task");
        Reflect.set(around, "executionState", ExecutionState.RUNNING);
        Reflect.set(around, "invokable", task);
        Reflect.set(around, "invokableHasBeenCanceled", new AtomicBoolean(true));  // a failing task cancels nothing
        Reflect.set(around, "taskStateManager", Fakes.silent(TaskStateManager.class));
        Reflect.set(around, "asyncCallDispatcher", Fakes.of(ExecutorService.class, (proxy, method, arguments) -> {
            if (method.getName().equals("submit")) {
                ((Runnable) arguments[0]).run();
            }
            return Fakes.nothing(method.getReturnType());
        }));
        Reflect.set(around, "checkpointResponder", Fakes.of(CheckpointResponder.class, (proxy, method, arguments) -> {
            if (method.getName().equals("declineCheckpoint")) {
                environment.declineCheckpoint((Long) arguments[2], (Throwable) arguments[3]);
            }
            return Fakes.nothing(method.getReturnType());
        }));
    }

    private static EventWriter writer(Operators operators) {
        EventWriter writer = Bare.of(EventWriter.class);
        writer.goTo(operators::broadcast);
        return writer;
    }

    /** The coordinator triggers the task, as it does at a source. */
    void trigger(long checkpoint) {
        around.triggerCheckpointBarrier(checkpoint, 0, CheckpointOptions.forCheckpointWithDefaultLocation(), false);
    }

    void notifyComplete(long checkpoint) {
        around.notifyCheckpointComplete(checkpoint);
    }

    /** Does nothing: no mail waits, and an exception of Flink in a call fails the task. */
    void settle() {
        if (around.getExecutionState() != ExecutionState.RUNNING) {
            throw new IllegalStateException("the call has failed the task: see docs/verify/released-flinks.md");
        }
    }
//# end

    /** The gate aborts the checkpoint. */
    void abortOnBarrier(long checkpoint, CheckpointException reason) throws Exception {
        task.abortCheckpointOnBarrier(checkpoint, reason);
    }
}
