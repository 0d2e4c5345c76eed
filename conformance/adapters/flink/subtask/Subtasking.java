package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointMetricsBuilder;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterDelegate;
import org.apache.flink.runtime.io.network.partition.consumer.IndexedInputGate;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;
import org.apache.flink.util.UserCodeClassLoader;

/**
 * A released `StreamTask` and its `SubtaskCheckpointCoordinatorImpl`: triggers, aborts, notifications.
 *
 * <p>The coordinator triggers the task, as it does at a source, or a gate at its barrier. The harness has the operators, the outputs, the
 * environment, and the threads: a mail is done at once, an asynchronous part when an event says so.
 */
final class Subtasking implements Component {
    static final String BROKEN = "the synchronous part of the snapshot failed";
    private static final UserCodeClassLoader CLASSES = Fakes.of(
            UserCodeClassLoader.class, (proxy, method, arguments) -> method.getName().equals("asClassLoader")
                    ? Subtasking.class.getClassLoader() : Fakes.nothing(method.getReturnType()));
    private final Effects effects = new Effects();
    private final Chain chain = Chain.of(effects);
    private final Map<Long, Runnable> parts = new TreeMap<>();
    private final Map<Long, FakeStateSnapshot> written = new TreeMap<>();
    private final MailboxProcessor mailbox = new MailboxProcessor(controller -> {});
    private final RestoredTask task = Bare.of(RestoredTask.class);
    private final Object coordinator;
    /** The checkpoint that the task is restored from; -1 for none. */
    private final long restored;
    private boolean failed;

    Subtasking(Map<String, Object> config, Release release) {
        String profile = String.valueOf(config.getOrDefault("profile", release.subtask));
        if (!profile.equals(release.subtask)) {
            throw new Unsupported("profile " + profile + "; this release has " + release.subtask);
        }
        int concurrent = ((Number) config.getOrDefault("max_concurrent", 1L)).intValue();
        restored = ((Number) config.getOrDefault("restored", -1L)).longValue();
        coordinator = coordinator(release.isAtLeast(1, 17) ? concurrent : 128);
        Reflect.set(task, "actionExecutor", StreamTaskActionExecutor.IMMEDIATE);
        Reflect.set(task, "configuration", new StreamConfig(new Configuration()));
        Reflect.set(task, "subtaskCheckpointCoordinator", coordinator);
        Reflect.set(task, "environment", environment());
        Reflect.set(task, "mailboxProcessor", mailbox);
        Reflect.set(task, "mainMailboxExecutor", mailbox.getMainMailboxExecutor());
        Reflect.set(task, "recordWriter", Fakes.of(RecordWriterDelegate.class, (proxy, method, arguments) -> {
            if (method.getName().equals("broadcastEvent")) {
                Chain.broadcast(effects, (AbstractEvent) arguments[0]);
            }
            return Fakes.nothing(method.getReturnType());
        }));
        Reflect.set(task, "latestReportCheckpointId", -1L);
        task.restoreUntilItRuns();
        Reflect.set(task, "operatorChain", chain);
        Reflect.set(task, "isRunning", true);
    }

    private Object coordinator(int remembered) {
        try {
            Class<?> type = Class.forName("org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinatorImpl");
            Object made = Reflect.makeWith(
                    ChannelStateWriter.class, type, "task", StreamTaskActionExecutor.IMMEDIATE, executor(), environment(), remembered, true,
                    ChannelStateWriter.NO_OP, new CloseableRegistry());
            if (Fields.has(made, "fileMergingSnapshotManager")) {
                Reflect.set(made, "fileMergingSnapshotManager", null);
            }
            return made;
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException(absent);
        }
    }

    /** Keeps an asynchronous part until an event runs it; what cancels one is done at once. */
    private ExecutorService executor() {
        return Fakes.of(ExecutorService.class, (proxy, method, arguments) -> {
            if (method.getName().equals("execute") && !Reflect.has(arguments[0].getClass(), "getCheckpointId", 0)) {
                ((Runnable) arguments[0]).run();
            } else if (method.getName().equals("execute")) {
                long id = ((Number) Reflect.call(arguments[0], "getCheckpointId")).longValue();
                parts.put(id, (Runnable) arguments[0]);
                written.put(id, chain.taken());
            }
            return Fakes.nothing(method.getReturnType());
        });
    }

    private Environment environment() {
        TaskStateManager manager = Fakes.of(TaskStateManager.class, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "reportTaskStateSnapshots":
                    effects.add("acknowledge", "checkpoint", ((CheckpointMetaData) arguments[0]).getCheckpointId());
                    return null;
                case "getRestoreCheckpointId":
                    return restored < 0 ? Optional.empty() : Optional.of(restored);
                default:
                    return Fakes.nothing(method.getReturnType());
            }
        });
        return Fakes.of(Environment.class, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "getTaskStateManager":
                    return manager;
                case "getAllInputGates":
                    return new IndexedInputGate[0];
                case "getJobConfiguration":
                    return new Configuration();
                case "getTaskInfo":
                    return info();
                case "getExecutionConfig":
                    return new ExecutionConfig();
                case "getMetricGroup":
                    return UnregisteredMetricGroups.createUnregisteredTaskMetricGroup();
                case "getUserCodeClassLoader":
                    return CLASSES;
                case "getOperatorCoordinatorEventGateway":
                    return Fakes.silent(TaskOperatorEventGateway.class);
                case "declineCheckpoint":
                    effects.add("decline", "checkpoint", arguments[0], "reason", Reasons.of((Throwable) arguments[1]));
                    return null;
                default:
                    return Fakes.nothing(method.getReturnType());
            }
        });
    }

//# with org.apache.flink.api.common.TaskInfoImpl
    private static Object info() {
        return new org.apache.flink.api.common.TaskInfoImpl("task", 1, 0, 1, 0);
    }
//# end
//# without org.apache.flink.api.common.TaskInfoImpl
    private static Object info() {
        return new org.apache.flink.api.common.TaskInfo("task", 1, 0, 1, 0);
    }
//# end

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.take();
        Object id = event.get("checkpoint");
        long checkpoint = id == null ? 0 : ((Number) id).longValue();
        try {
            apply(String.valueOf(event.get("kind")), checkpoint, event);
            mailbox.drain();
        } catch (Refused | Unsupported wrong) {
            throw wrong;
        } catch (Exception flinks) {
            if (!isOfSnapshot(flinks)) {
                throw new IllegalStateException(flinks);
            }
            failed = true;
            effects.add("fail", "error", BROKEN);
        }
        List<Map<String, Object>> taken = effects.take();
        if ("close".equals(event.get("kind"))) {  // Flink closes its parts in the order of a hash table
            taken.sort(Comparator.comparingLong(one -> ((Number) one.get("checkpoint")).longValue()));
        }
        return taken;
    }

    private static boolean isOfSnapshot(Throwable thrown) {
        return thrown != null && (BROKEN.equals(thrown.getMessage()) || isOfSnapshot(thrown.getCause()));
    }

    private void apply(String kind, long checkpoint, Map<String, Object> event) throws Exception {
        if (failed) {
            throw new Refused(kind + ": the task has failed");
        }
        switch (kind) {
            case "checkpoint":
                chain.breaksNext(event.get("fails") == Boolean.TRUE);
                task.triggerCheckpointAsync(
                        new CheckpointMetaData(checkpoint, 0), CheckpointOptions.forCheckpointWithDefaultLocation());
                return;
            case "checkpoint_on_barrier":  // not on the wire
                chain.breaksNext(event.get("fails") == Boolean.TRUE);
                task.triggerCheckpointOnBarrier(
                        new CheckpointMetaData(checkpoint, 0),
                        CheckpointOptions.forCheckpointWithDefaultLocation(),
                        new CheckpointMetricsBuilder().setAlignmentDurationNanos(0).setBytesProcessedDuringAlignment(0));
                return;
            case "abort_on_barrier":
                task.abortCheckpointOnBarrier(
                        checkpoint, new CheckpointException(Reasons.named(String.valueOf(event.get("reason")))));
                return;
            case "abort_notification":
                task.notifyCheckpointAbortAsync(checkpoint, ((Number) event.get("completed")).longValue());
                return;
            case "complete_notification":
                task.notifyCheckpointCompleteAsync(checkpoint);
                return;
            case "subsumed_notification":
                subsumed(checkpoint);
                return;
            case "async_done":
                written(checkpoint, null);
                return;
            case "async_failed":
                written(checkpoint, failure(String.valueOf(event.getOrDefault("reason", "ASYNC_EXCEPTION"))));
                return;
            case "status":
                Reflect.set(task, "isRunning", event.get("running"));
                return;
            case "close":
                Reflect.set(task, "isRunning", false);
                Reflect.call(coordinator, "close");
                return;
            default:
                throw new Refused("kind " + kind + ": not one of a subtask");
        }
    }
//# from 1.15

    private void subsumed(long checkpoint) {
        task.notifyCheckpointSubsumedAsync(checkpoint);
    }
//# end
//# before 1.15

    private void subsumed(long checkpoint) {}
//# end

    /** A failure that names this reason; the reason of any other failure is ASYNC_EXCEPTION. */
    private static Exception failure(String reason) {
        if (reason.equals("ASYNC_EXCEPTION")) {
            return new Exception("the state cannot be stored");
        }
        return new CheckpointException(Reasons.named(reason));
    }

    /** Run the asynchronous part, unless it ran or was cancelled before. */
    private void written(long checkpoint, Exception why) {
        Runnable part = parts.remove(checkpoint);
        if (part != null) {
            written.remove(checkpoint).run(part, why);
        }
    }

    @Override
    public Map<String, Object> state() {
        Map<String, Object> state = new TreeMap<>();
        state.put("running_task", Fields.get(task, "isRunning"));
        state.put("last", Fields.get(coordinator, "lastCheckpointId"));
        state.put("aborted", new ArrayList<Object>((Collection<?>) Fields.get(coordinator, "abortedCheckpointIds")));
        state.put("running", new ArrayList<Object>(new TreeMap<>((Map<?, ?>) Fields.get(coordinator, "checkpoints")).keySet()));
        state.put("completed", Fields.get(task, "latestReportCheckpointId"));
        if (Fields.has(coordinator, "maxAbortedCheckpointId")) {
            long highest = (Long) Fields.get(coordinator, "maxAbortedCheckpointId");
            state.put("highest_aborted", highest == 0 ? -1 : highest);
        }
        return state;
    }
}
