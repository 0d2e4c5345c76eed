package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
//# before 1.10
import org.apache.flink.runtime.jobgraph.JobStatus;
//# end
//# from 1.10
import org.apache.flink.api.common.JobStatus;
//# end
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.checkpoint.CheckpointMetrics;
import org.apache.flink.runtime.checkpoint.PendingCheckpoint;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.messages.checkpoint.AcknowledgeCheckpoint;
import org.apache.flink.runtime.messages.checkpoint.DeclineCheckpoint;

/** Component `coordinator`: Flink's own coordinator, driven event by event. */
final class Coordinating implements Component {
    private final Settings settings;
    private final Release release;
    private final CoordinatorEffects effects;
    private final States states;
    private final Loop loop = new Loop();
    private final IoFailures failures;
    private final Job job;
    private DrivenCoordinator driven;
    private JobStatus status = JobStatus.CREATED;
    /** Tasks with a new execution that was not yet reported to the listeners. */
    private final Set<String> undeployed = new HashSet<>();

    Coordinating(Map<String, Object> wire, Release release) throws Exception {
        this.release = release;
        settings = new Settings(wire, release);
        effects = new CoordinatorEffects(release.isAtLeast(1, 15));
        failures = new IoFailures(effects);
        states = new States(effects, settings.tasks);
        job = new Job(settings, effects);
        driven = new DrivenCoordinator(settings, release, job, effects, states, loop, failures, null);
        if (settings.savepoint != null) {
            Savepoint.restore(driven.flink(), job, settings.savepoint, settings.claimMode);
        }
    }

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.begin();
        try {
            apply(String.valueOf(event.get("kind")), event);
            loop.settle();
        } catch (Refused | Unsupported refused) {
            throw refused;
        } catch (Throwable thrown) {
            System.err.println(event + ": " + thrown);
            effects.add("fail", "error", thrown.getClass().getSimpleName());
            loop.settle();
        }
        driven.requests().listener(null); // only now: the loop may run a request for a savepoint
        states.look();
        return effects.end();
    }

    private void apply(String kind, Map<String, Object> event) throws Exception {
        switch (kind) {
            case "job_status":
                jobStatus(JobStatus.valueOf((String) event.get("status")));
                break;
            case "task_status":
                taskStatus((String) event.get("task"), ExecutionState.valueOf((String) event.get("status")));
                break;
            case "trigger":
                trigger(event);
                break;
            case "acknowledge":
                acknowledge(event);
                break;
            case "decline":
                decline(event);
                break;
            case "advance":
                loop.advance(Config.number(event, "ms", 0));
                break;
            case "trigger_fails":
                job.failTrigger((String) event.get("task"), Config.number(event, "checkpoint", -1));
                break;
            case "store_fails":
                driven.store().fail((String) event.get("when"));
                break;
            case "io_fails":
                if (!settings.ioFailures) {
                    throw new Refused("io_fails: no input or output fails");
                }
                failures.next((String) event.get("what"));
                break;
            case "deleted":
                if (!settings.slowCleaning) {
                    throw new Refused("deleted: every deletion has ended at once");
                }
                driven.deleted();
                break;
            case "fail_tasks":
                for (String task : names(event.get("tasks"))) {
                    ExecutionState before = job.status(task);
                    job.become(task, ExecutionState.FAILED);
                    undeployed.remove(task);
                    driven.taskStatus(job.attempt(task, null), before, ExecutionState.FAILED);
                }
                jobStatus(JobStatus.RESTARTING);
                break;
            case "restore":
                restore(event);
                break;
            case "coordinator_done":
            case "hook_done":
            case "coordinator_fails":
            case "hook_fails":
                driven.masters().answer((String) event.get("name"), Config.number(event, "checkpoint", -1), kind);
                break;
            case "coordinator_restart":
                loop.clear();
                job.forgetCalls();
                undeployed.clear();
                status = JobStatus.CREATED;
                job.run(false);
                for (String task : settings.tasks) {
                    job.renew(task);
                    job.become(task, ExecutionState.CREATED);
                }
                driven = new DrivenCoordinator(settings, release, job, effects, states, loop, failures, driven);
                if (settings.savepoint != null && release.isAtLeast(1, 15)) {
                    driven.restore(settings.tasks, false); // as a restarted job does; its savepoint may be unclaimed
                }
                break;
            case "shutdown":
                driven.shutdown(JobStatus.valueOf((String) event.getOrDefault("status", "FINISHED")));
                loop.end();
                break;
            default:
                throw new Refused("kind: expected an event of a coordinator, got " + kind);
        }
    }

    private void jobStatus(JobStatus next) throws Exception {
        status = next;
        job.run(next == JobStatus.RUNNING);
        driven.jobStatus(next);
        deploy();
    }

    private void taskStatus(String task, ExecutionState next) throws Exception {
        ExecutionState before = job.status(task);
        job.become(task, next);
        undeployed.remove(task);
        driven.taskStatus(job.attempt(task, null), before, next);
    }

    private void restore(Map<String, Object> event) throws Exception {
        boolean region = "region".equals(event.get("scope"));
        if (status == JobStatus.RUNNING && !region) {
            throw new Refused("a running job restores nothing; fail its tasks first");
        }
        List<String> tasks = region ? names(event.get("tasks")) : settings.tasks;
        driven.flink().abortPendingCheckpoints(new CheckpointException(CheckpointFailureReason.JOB_FAILOVER_REGION));
        if (!driven.flink().isShutdown()) { // after a shutdown the restore below throws: no new executions
            tasks.forEach(job::renew);
        }
        effects.add("restored", "checkpoint", driven.restore(tasks, region));
        for (String task : tasks) {
            job.become(task, job.status(task));
        }
        undeployed.addAll(tasks);
        deploy();
    }

    /** If the job runs: reports all new executions as scheduled, then those of running or finished tasks as such. */
    private void deploy() throws Exception {
        if (status != JobStatus.RUNNING) {
            return;
        }
        List<String> tasks = new ArrayList<>(settings.tasks);
        tasks.retainAll(undeployed);
        undeployed.clear();
        for (String task : tasks) {
            driven.taskStatus(job.attempt(task, null), ExecutionState.CREATED, ExecutionState.SCHEDULED);
        }
        for (String task : tasks) {
            if (job.status(task) == ExecutionState.RUNNING || job.status(task) == ExecutionState.FINISHED) {
                driven.taskStatus(job.attempt(task, null), ExecutionState.SCHEDULED, job.status(task));
            }
        }
    }

    private static List<String> names(Object tasks) {
        List<String> names = new ArrayList<>();
        for (Object task : (List<?>) tasks) {
            names.add((String) task);
        }
        return names;
    }

    private void trigger(Map<String, Object> event) throws Exception {
        String type = (String) event.getOrDefault("type", "checkpoint");
        boolean drain = Settings.flag(event, "drain", false);
        if (drain && !type.equals("stop")) {
            throw new Unsupported("drain without a stop; Flink has no such request");
        }
        if (type.equals("stop")) {
            driven.flink().stopCheckpointScheduler(); // as Flink's scheduler does before it requests a savepoint
        }
        boolean[] known = {false};
        BiConsumer<Object, Throwable> ended = (done, failure) -> {
            if (failure != null && !driven.ended(failure) && !known[0]) {
                effects.rejected(type, Reasons.of(failure));
            }
            known[0] = true;
        };
        driven.requests().listener(ended);
        driven.requests().ask(type, Settings.flag(event, "forced", false), Settings.flag(event, "periodic", false), drain)
                .whenComplete(ended::accept);
    }

    private void acknowledge(Map<String, Object> event) throws Exception {
        String task = (String) event.get("task");
        long checkpoint = Config.number(event, "checkpoint", -1);
        ExecutionAttemptID attempt = job.attempt(task, (Long) event.get("attempt"));
        List<?> shared = event.get("shared") == null ? Collections.emptyList() : (List<?>) event.get("shared");
        PendingCheckpoint pending = driven.pending().get(checkpoint);
        String result = pending == null ? "none" : expectedResult(pending, attempt);
        TaskStateSnapshot snapshot = null;
        if (event.get("state") != null || !shared.isEmpty()) {
            snapshot = states.snapshot(
                    task, job.operator(task), checkpoint, (String) event.get("state"), shared,
                    result.equals("SUCCESS"));
        }
        if (pending != null) {
            effects.add("acknowledged", "task", task, "checkpoint", checkpoint, "result", result);
        }
        try {
            driven.flink().receiveAcknowledgeMessage(
                    new AcknowledgeCheckpoint(job.id, attempt, checkpoint, new CheckpointMetrics(), snapshot), "here");
        } catch (CheckpointException refused) {
            System.err.println(event + ": " + refused);
            effects.add("fail", "error", "CheckpointException");
        }
    }

    /** How Flink will classify this acknowledgement, by the fields of the pending checkpoint. */
    private static String expectedResult(PendingCheckpoint pending, ExecutionAttemptID attempt) {
        if (((Map<?, ?>) Fields.get(pending, "notYetAcknowledgedTasks")).containsKey(attempt)) {
            return "SUCCESS";
        }
        return ((Set<?>) Fields.get(pending, "acknowledgedTasks")).contains(attempt) ? "DUPLICATE" : "UNKNOWN";
    }

    private void decline(Map<String, Object> event) throws Exception {
        ExecutionAttemptID attempt = job.attempt((String) event.get("task"), (Long) event.get("attempt"));
        CheckpointException reason = new CheckpointException(Reasons.named((String) event.get("reason")));
        driven.flink().receiveDeclineMessage(
                Reflect.make(
                        DeclineCheckpoint.class, job.id, attempt, Config.number(event, "checkpoint", -1), reason),
                "here");
    }

    @Override
    public Map<String, Object> state() {
        TreeMap<String, Object> state = new TreeMap<>();
        state.put("status", status.name());
        TreeMap<String, Object> pending = new TreeMap<>();
        for (Map.Entry<Long, PendingCheckpoint> entry : driven.pending().entrySet()) {
            pending.put(String.valueOf(entry.getKey()), missing(entry.getValue()));
        }
        state.put("pending", pending);
        state.put("completed", driven.retained());
        state.put("next_id", driven.nextId());
        state.put("queued", driven.queued());
        return state;
    }

    private List<String> missing(PendingCheckpoint pending) {
        Map<?, ?> missing = (Map<?, ?>) Fields.get(pending, "notYetAcknowledgedTasks");
        Set<String> names = new HashSet<>();
        for (Object attempt : missing.keySet()) {
            names.add(job.name((ExecutionAttemptID) attempt));
        }
        List<String> ordered = new ArrayList<>(settings.tasks);
        ordered.retainAll(names);
        return ordered;
    }
}
