package barrierspec.flink;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.taskexecutor.TaskExecutor;
import org.apache.flink.runtime.taskmanager.CheckpointResponder;
import org.apache.flink.runtime.taskmanager.Task;
import org.slf4j.LoggerFactory;

/** Flink's `TaskExecutor` with a slot table that has one `Task`. No constructor of them ever runs. */
final class TaskManager {
    private static final String TABLE = "org.apache.flink.runtime.taskexecutor.slot.TaskSlotTableImpl";
    private final TaskExecutor executor = Bare.of(TaskExecutor.class);
    private final ExecutionAttemptID here = id();
    private final ExecutionAttemptID elsewhere = id();
    private final Effects effects;

    /** `invokable`: what the task runs. */
    TaskManager(Object invokable, Effects effects) {
        this.effects = effects;
        Reflect.set(executor, "log", LoggerFactory.getLogger(TaskExecutor.class));
        Reflect.set(executor, "taskSlotTable", table(task(invokable)));
    }

    private Task task(Object invokable) {
        Task task = Bare.of(Task.class);
        Reflect.set(task, "jobId", new JobID());
        Reflect.set(task, "executionId", here);
        Reflect.set(task, "taskNameWithSubtask", "source");
        Reflect.set(task, "executionState", ExecutionState.RUNNING);
        Reflect.set(task, "invokable", invokable);
        Reflect.set(task, "checkpointResponder", Fakes.of(CheckpointResponder.class, (proxy, method, arguments) -> {
            if (method.getName().equals("declineCheckpoint")) {
                effects.add("decline", "checkpoint", arguments[2], "reason", Reasons.of((Throwable) arguments[3]));
            }
            return Fakes.nothing(method.getReturnType());
        }));
        return task;
    }

    /** Flink's own table, which maps the attempt to its task. */
    private Object table(Task task) {
        try {
            Object table = Bare.of(Class.forName(TABLE));
            Map<Object, Object> mappings = new HashMap<>();
            Object slot = Bare.of(Class.forName("org.apache.flink.runtime.taskexecutor.slot.TaskSlot"));
            mappings.put(here, Reflect.make(Class.forName(TABLE + "$TaskSlotMapping"), task, slot));
            Reflect.set(table, "taskSlotMappings", mappings);
            return table;
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException(absent);
        }
    }

    /** The coordinator's trigger arrives, for the task of this task manager or for one that it does not have. */
    void trigger(long checkpoint, boolean isHere) throws Exception {
        CheckpointOptions options = CheckpointOptions.forCheckpointWithDefaultLocation();
        Object attempt = isHere ? here : elsewhere;
        Object answer = Reflect.has(TaskExecutor.class, "triggerCheckpoint", 4)
                ? Reflect.call(executor, "triggerCheckpoint", attempt, checkpoint, 0L, options)
                : Reflect.call(executor, "triggerCheckpoint", attempt, checkpoint, 0L, options, false);
        try {
            ((CompletableFuture<?>) answer).get();
        } catch (ExecutionException refused) {
            effects.fail(refused.getCause());
        }
    }

    private static ExecutionAttemptID id() {
        try {
            return (ExecutionAttemptID) (Reflect.has(ExecutionAttemptID.class, "randomId", 0)
                    ? ExecutionAttemptID.class.getMethod("randomId").invoke(null)
                    : ExecutionAttemptID.class.getConstructor().newInstance());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
