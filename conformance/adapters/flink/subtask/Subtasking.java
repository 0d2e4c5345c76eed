package barrierspec.flink;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.streaming.api.graph.StreamConfig;
//# from 1.14
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.util.UserCodeClassLoader;
//# end
//# before 1.11
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.messages.checkpoint.DeclineCheckpoint;
//# end

/**
 * A released `StreamTask` and its `SubtaskCheckpointCoordinatorImpl`: triggers, aborts, notifications.
 *
 * <p>The coordinator triggers the task, as it does at a source; or a gate triggers it at a barrier. The harness has
 * fake operators, outputs, environment and threads. A mail runs at once. An asynchronous part runs when an
 * event ends it. Up to 1.10 the task itself takes its snapshots.
 */
final class Subtasking implements Component {
    private final Effects effects = new Effects();
    private final Operators operators = new Operators(effects);
    private final Map<Long, AsyncPart> parts = new TreeMap<>();
    private final RestoredTask task = Bare.of(RestoredTask.class);
    private final SnapshotSteps steps;
    private final TaskCalls calls;
    private final Release release;
    /** The checkpoint that the task is restored from; -1 for none. */
    private final long restored;
    private boolean failed;

    Subtasking(Map<String, Object> config, Release release) {
        String profile = String.valueOf(config.getOrDefault("profile", release.subtask));
        if (!profile.equals(release.subtask)) {
            throw new Unsupported("profile " + profile + "; this release has " + release.subtask);
        }
        AsyncPart.endAll();
        this.release = release;
        int concurrent = ((Number) config.getOrDefault("max_concurrent", 1L)).intValue();
        restored = ((Number) config.getOrDefault("restored", -1L)).longValue();
        Environment environment = environment();
        steps = new SnapshotSteps(task, release, concurrent, executor(), environment);
        calls = new TaskCalls(task, operators, environment);
        Reflect.set(task, "configuration", new StreamConfig(new Configuration()));
        if (Fields.has(task, "latestReportCheckpointId")) {
            Reflect.set(task, "latestReportCheckpointId", -1L);
        }
        task.restoreUntilItRuns();
        Reflect.set(task, "operatorChain", Chain.of(operators));
        Reflect.set(task, "isRunning", true);
    }

    /** An executor that keeps an asynchronous part until an event ends it, and runs a cancellation at once. */
    private ExecutorService executor() {
        return Fakes.of(ExecutorService.class, (proxy, method, arguments) -> {
            FakeStateSnapshot state = method.getName().equals("execute") ? operators.taken() : null;
            if (state != null) {
                AsyncPart part = new AsyncPart((Runnable) arguments[0], state);
                parts.put(state.checkpoint(), part);
                if (release.isAtLeast(1, 11) && !release.isAtLeast(1, 14)) {
                    part.startsAtOnce();
                }
            } else if (method.getName().equals("execute")) {
                ((Runnable) arguments[0]).run();
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
                case "getUserCodeClassLoader":
                    return codeClasses();
                case "getOperatorCoordinatorEventGateway":
                    return eventGateway();
                case "declineCheckpoint":
                    effects.add("decline", "checkpoint", arguments[0], "reason", reason((Throwable) arguments[1]));
                    return null;
                default:
                    return TaskParts.answer(method);
            }
        });
    }

//# from 1.14
    private static Object codeClasses() {
        return Fakes.of(
                UserCodeClassLoader.class, (proxy, method, arguments) -> method.getName().equals("asClassLoader")
                        ? Subtasking.class.getClassLoader() : Fakes.nothing(method.getReturnType()));
    }

    private static Object eventGateway() {
        return Fakes.silent(TaskOperatorEventGateway.class);
    }
//# end
//# before 1.14
    /** None: only the start of a task (`RestoredTask`, from 1.14 on) needs code classes. */
    private static Object codeClasses() {
        return null;
    }

    private static Object eventGateway() {
        return null;
    }
//# end

//# from 1.11
    /** The reason that a decline names. */
    private static String reason(Throwable declined) {
        return Reasons.of(declined);
    }
//# end
//# before 1.11
    /** The reason that the coordinator records for a decline, whose message carries this exception. */
    private static String reason(Throwable declined) {
        Throwable carried = new DeclineCheckpoint(new JobID(), new ExecutionAttemptID(), 0, declined).getReason();
        return carried instanceof CheckpointException ? Reasons.of(carried) : CheckpointFailureReason.JOB_FAILURE.name();
    }
//# end

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.take();
        Object id = event.get("checkpoint");
        long checkpoint = id == null ? 0 : ((Number) id).longValue();
        try {
            apply(String.valueOf(event.get("kind")), checkpoint, event);
            calls.settle();
        } catch (Refused | Unsupported wrong) {
            throw wrong;
        } catch (Exception flinks) {
            if (!isOfSnapshot(flinks)) {
                throw new IllegalStateException(flinks);
            }
            failed = true;
            effects.add("fail", "error", Operators.BROKEN);
        }
        List<Map<String, Object>> taken = effects.take();
        if ("close".equals(event.get("kind"))) {  // Flink closes its parts in the order of a hash table
            taken.sort(Comparator.comparingLong(one -> ((Number) one.get("checkpoint")).longValue()));
        }
        return taken;
    }

    private static boolean isOfSnapshot(Throwable thrown) {
        return thrown != null && (Operators.BROKEN.equals(thrown.getMessage()) || isOfSnapshot(thrown.getCause()));
    }

    private void apply(String kind, long checkpoint, Map<String, Object> event) throws Exception {
        if (failed) {
            throw new Refused(kind + ": the task has failed");
        }
        switch (kind) {
            case "checkpoint":
                operators.breaksNext(event.get("fails") == Boolean.TRUE);
                calls.trigger(checkpoint);
                return;
            case "checkpoint_on_barrier":  // not in the adapter protocol
                operators.breaksNext(event.get("fails") == Boolean.TRUE);
                calls.triggerOnBarrier(checkpoint);
                return;
            case "abort_on_barrier":
                calls.abortOnBarrier(
                        checkpoint, new CheckpointException(Reasons.named(String.valueOf(event.get("reason")))));
                return;
            case "abort_notification":
                calls.notifyAbort(checkpoint, ((Number) event.get("completed")).longValue());
                return;
            case "complete_notification":
                calls.notifyComplete(checkpoint);
                return;
            case "subsumed_notification":
                calls.notifySubsumed(checkpoint);
                return;
            case "async_done":
                ends(checkpoint, null);
                return;
            case "async_failed":
                ends(checkpoint, failure(String.valueOf(event.getOrDefault("reason", "ASYNC_EXCEPTION"))));
                return;
            case "status":
                Reflect.set(task, "isRunning", event.get("running"));
                return;
            case "close":
                Reflect.set(task, "isRunning", false);
                steps.close();
                return;
            default:
                throw new Refused("kind " + kind + ": not one of a subtask");
        }
    }
    /** A failure that names this reason; the reason of any other failure is ASYNC_EXCEPTION. */
    private static Exception failure(String reason) {
        if (reason.equals("ASYNC_EXCEPTION")) {
            return new Exception("the state cannot be stored");
        }
        return new CheckpointException(Reasons.named(reason));
    }

    /** Ends the asynchronous part, unless it has ended before. */
    private void ends(long checkpoint, Exception why) throws InterruptedException {
        AsyncPart part = parts.remove(checkpoint);
        if (part != null) {
            part.end(why);
        }
    }

    @Override
    public Map<String, Object> state() {
        Map<String, Object> state = new TreeMap<>();
        state.put("running_task", Fields.get(task, "isRunning"));
        steps.describe(state);
        if (Fields.has(task, "latestReportCheckpointId")) {
            state.put("completed", Fields.get(task, "latestReportCheckpointId"));
        }
        return state;
    }
}
