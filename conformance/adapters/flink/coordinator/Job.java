package barrierspec.flink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.Execution;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.ExecutionVertex;
import org.apache.flink.runtime.executiongraph.IntermediateResult;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobmanager.slots.TaskManagerGateway;
import org.apache.flink.runtime.jobmaster.LogicalSlot;
import org.apache.flink.runtime.messages.Acknowledge;
import org.apache.flink.util.FlinkException;

/** A job of Flink's own vertices and executions. Their slots and task managers are fakes. */
final class Job {
    final JobID id = new JobID(0, 1);

    private final Settings settings;
    private final CoordinatorEffects effects;
    private final Map<String, ExecutionJobVertex> vertices = new LinkedHashMap<>();
    private final Map<ExecutionAttemptID, String> names = new HashMap<>();
    private final Map<String, List<ExecutionAttemptID>> attempts = new HashMap<>();
    private final Map<String, CompletableFuture<Acknowledge>> calls = new HashMap<>();
    private final Map<String, ExecutionState> statuses = new HashMap<>();
    private boolean runs;
    private final Executor direct = Runnable::run;
    private final LogicalSlot slot;

    Job(Settings settings, CoordinatorEffects effects) throws Exception {
        this.settings = settings;
        this.effects = effects;
        TaskManagerGateway gateway = Fakes.of(
                TaskManagerGateway.class, (proxy, method, arguments) -> called(method.getName(), method.getReturnType(), arguments));
        slot = Fakes.of(
                LogicalSlot.class,
                (proxy, method, arguments) -> method.getName().equals("getTaskManagerGateway")
                        ? gateway
                        : Fakes.nothing(method.getReturnType()));
        Map<String, JobVertex> planned = new LinkedHashMap<>();
        for (String task : settings.tasks) {
            JobVertex vertex = new JobVertex(task, new JobVertexID(1, planned.size())); // the same in every run
            vertex.setInvokableClass(org.apache.flink.runtime.jobgraph.tasks.AbstractInvokable.class);
            vertex.setParallelism(1);
            vertex.setMaxParallelism(Vertices.MAX_PARALLELISM);
            planned.put(task, vertex);
        }
        for (String task : settings.tasks) {
            if (!settings.sources.contains(task)) {
                for (String source : settings.sources) {
                    Vertices.connect(planned.get(source), planned.get(task));
                }
            }
        }
        Vertices made = new Vertices(id, direct);
        for (Map.Entry<String, JobVertex> entry : planned.entrySet()) {
            ExecutionJobVertex vertex = made.of(entry.getValue());
            vertices.put(entry.getKey(), vertex);
            remember(entry.getKey());
        }
        for (ExecutionJobVertex vertex : vertices.values()) { // so that any set of tasks can be restored
            Reflect.set(vertex, "producedDataSets", new IntermediateResult[0]);
        }
    }

    Iterable<ExecutionJobVertex> vertices() {
        return vertices.values();
    }

    ExecutionVertex vertex(String task) {
        ExecutionJobVertex vertex = vertices.get(task);
        if (vertex == null) {
            throw new Refused("task: expected one of " + vertices.keySet() + ", got " + task);
        }
        return vertex.getTaskVertices()[0];
    }

    ExecutionVertex[] all(boolean onlySources) {
        List<ExecutionVertex> all = new ArrayList<>();
        for (String task : settings.tasks) {
            if (!onlySources || settings.sources.contains(task)) {
                all.add(vertex(task));
            }
        }
        return all.toArray(new ExecutionVertex[0]);
    }

    boolean hasFinished() {
        for (String task : settings.tasks) {
            if (runs && status(task) == ExecutionState.FINISHED) {
                return true;
            }
        }
        return false;
    }

    /** Sets the status of a task. A task with a status other than CREATED has a slot. */
    void become(String task, ExecutionState status) {
        vertex(task);
        statuses.put(task, status);
        show(task);
    }

    /** Sets whether the job runs. While it does not, Flink sees a RUNNING or FINISHED task as CANCELING. */
    void run(boolean now) {
        runs = now;
        settings.tasks.forEach(this::show);
    }

    private void show(String task) {
        ExecutionState status = statuses.getOrDefault(task, ExecutionState.CREATED);
        boolean held = !runs && (status == ExecutionState.RUNNING || status == ExecutionState.FINISHED);
        boolean renewed = runs && status == ExecutionState.FAILED; // the scheduler renews it before the job runs
        Execution execution = vertex(task).getCurrentExecutionAttempt();
        Reflect.set(execution, "state", held ? ExecutionState.CANCELING : renewed ? ExecutionState.SCHEDULED : status);
        Reflect.set(execution, "assignedResource", status == ExecutionState.CREATED ? null : slot);
    }

    /** The status of a task in the adapter protocol. */
    ExecutionState status(String task) {
        vertex(task);
        return statuses.getOrDefault(task, ExecutionState.CREATED);
    }

    /** Gives the task a new execution, as the scheduler does. */
    void renew(String task) {
        ExecutionVertex vertex = vertex(task);
        Execution before = vertex.getCurrentExecutionAttempt();
        Object timeout = Vertices.timeout();
        Execution fresh = Reflect.make(
                Execution.class, direct, vertex, before.getAttemptNumber() + 1, 0L, timeout);
        Reflect.set(vertex, "currentExecution", fresh);
        remember(task);
    }

    private void remember(String task) {
        ExecutionAttemptID attempt = vertex(task).getCurrentExecutionAttempt().getAttemptId();
        names.put(attempt, task);
        attempts.computeIfAbsent(task, any -> new ArrayList<>()).add(attempt);
    }

    /** The id of an execution of the task: the current one if `number` is null; a foreign id if there is none. */
    ExecutionAttemptID attempt(String task, Long number) {
        List<ExecutionAttemptID> known = attempts.get(task);
        if (known == null) {
            return Vertices.strange(attempts.get(settings.tasks.get(0)).get(0));
        }
        int at = number == null ? known.size() - 1 : number.intValue();
        return at < known.size() ? known.get(at) : Vertices.strange(known.get(0));
    }

    String name(ExecutionAttemptID attempt) {
        return names.get(attempt);
    }

    OperatorID operator(String task) {
        JobVertex vertex = vertices.containsKey(task)
                ? vertices.get(task).getJobVertex()
                : vertices.values().iterator().next().getJobVertex();
        return OperatorID.fromJobVertexID(vertex.getID());
    }

    /** Makes the call that triggered this checkpoint on the task fail. Does nothing if there was no such call. */
    void failTrigger(String task, long checkpoint) {
        CompletableFuture<Acknowledge> call = calls.remove(task + '@' + checkpoint);
        if (call != null) {
            call.completeExceptionally(new FlinkException("the call failed"));
        }
    }

    /** Forgets all calls, because the coordinator that made them is gone. */
    void forgetCalls() {
        calls.clear();
    }

    private Object called(String name, Class<?> result, Object[] arguments) {
        if (arguments == null || !(arguments[0] instanceof ExecutionAttemptID)) {
            return Fakes.nothing(result);
        }
        String task = names.get(arguments[0]);
        switch (name) {
            case "triggerCheckpoint":
                long checkpoint = (Long) arguments[2];
                String type = Savepoint.isFull(arguments[4]) ? "full_checkpoint" : Kinds.of(arguments[4]);
                effects.add("trigger_task", "task", task, "checkpoint", checkpoint, "type", type);
                CompletableFuture<Acknowledge> call = new CompletableFuture<>(); // unanswered until it fails
                calls.put(task + '@' + checkpoint, call);
                return result == void.class ? null : call;
            case "notifyCheckpointComplete":
            case "notifyCheckpointOnComplete":
                effects.add("notify_complete", "task", task, "checkpoint", arguments[2]);
                if (arguments.length == 5 && (Long) arguments[4] >= 0) {
                    effects.add("notify_subsumed", "task", task, "checkpoint", subsumed(arguments));
                }
                break;
            case "notifyCheckpointAborted":
                effects.add("notify_abort", "task", task, "checkpoint", arguments[2]);
                break;
            default:
        }
        return result == void.class ? null : CompletableFuture.completedFuture(Acknowledge.get());
    }

    private static Long subsumed(Object[] arguments) {
        return (Long) arguments[4];
    }
}
