package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
//# before 1.10
import org.apache.flink.runtime.jobgraph.JobStatus;
//# end
//# from 1.10
import org.apache.flink.api.common.JobStatus;
//# end
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.checkpoint.CheckpointFailureManager;
import org.apache.flink.runtime.checkpoint.CheckpointStatsTracker;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.MasterTriggerRestoreHook;
import org.apache.flink.runtime.checkpoint.PendingCheckpoint;
import org.apache.flink.runtime.checkpoint.StandaloneCheckpointIDCounter;
import org.apache.flink.runtime.checkpoint.WatchedStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.JobStatusListener;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointCoordinatorConfiguration;
import org.apache.flink.util.FlinkException;
//# before 1.10
import java.util.HashMap;
import org.apache.flink.runtime.jobgraph.JobVertexID;
//# end
//# before 1.13
import org.apache.flink.runtime.state.StateBackend;
//# end
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
//# end
//# from 1.13
import java.util.Arrays;
import org.apache.flink.runtime.checkpoint.CheckpointPlanCalculator;
import org.apache.flink.runtime.checkpoint.CheckpointPlanCalculatorContext;
import org.apache.flink.runtime.checkpoint.DefaultCheckpointPlanCalculator;
import org.apache.flink.runtime.state.CheckpointStorage;
//# end
//# from 1.13 before 1.18
import org.apache.flink.runtime.checkpoint.ExecutionAttemptMappingProvider;
//# end
//# before 1.15
import org.apache.flink.runtime.state.SharedStateRegistry;
//# end
//# from 1.14
import java.util.function.BiFunction;
import org.apache.flink.runtime.checkpoint.VertexFinishedStateChecker;
//# end
//# from 2.3
import org.apache.flink.runtime.executiongraph.ExecutionStateUpdateListener;
//# end

/** One coordinator of Flink with its store and its listener. The harness records its actions as effects. */
final class DrivenCoordinator {
    private static final String SIZE = "pendingCheckpointsSizeSupplier";

    private final Settings settings;
    private final CoordinatorEffects effects;
    private final StandaloneCheckpointIDCounter counter;
    private final Masters masters;
    private final Retained store;
    private final CheckpointCoordinator flink;
    private final Loop loop;
    private final Job job;
    private final Map<Long, PendingCheckpoint> pending;
    private final Set<Object> ends = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Map<CompletableFuture<?>, Long> open = new LinkedHashMap<>();
    private final JobStatusListener listener;
//# from 1.12
    private final CheckpointsCleaner cleaner;
//# end
    private final Requests requests;
    private Long restored;

    DrivenCoordinator(Settings settings, Release release, Job job, CoordinatorEffects effects, States states, Loop loop, IoFailures io, DrivenCoordinator before)
            throws Exception {
        this.settings = settings;
        this.effects = effects;
        this.loop = loop;
        this.job = job;
        counter = before == null ? io.counter() : before.counter;
        masters = new Masters(settings, effects);
        store = new Retained(settings.retain, states::look);
        if (before != null) {
            store.follow(before.store);
        }
        Storage storage = new Storage(effects, states, io);
        loop.randomDelay(settings.initialDelay);
        Executor direct = Runnable::run;
        CheckpointFailureManager failures;
//# before 1.10
        failures = new Requests.Refusals(
//# end
//# from 1.10
        failures = new CheckpointFailureManager(
//# end
                settings.tolerableFailures < 0
                        ? CheckpointFailureManager.UNLIMITED_TOLERABLE_FAILURE_NUMBER
                        : settings.tolerableFailures,
                Fakes.of(CheckpointFailureManager.FailJobCallback.class, (proxy, method, arguments) -> {
                    reportEnds();
                    effects.failJob(Reasons.within((Throwable) arguments[0]));
                    return null;
                }));
        CheckpointCoordinatorConfiguration configuration = settings.flink();
        CheckpointStatsTracker stats = WatchedStats.of(
                configuration, job.vertices().iterator().next(), checkpoint -> restored = checkpoint);
        List<Object> parts = new ArrayList<>();
        parts.add(job.id);
        parts.add(configuration);
        parts.add(counter);
        parts.add(store);
        parts.add(direct);
        parts.add(loop.executor());
        parts.add(failures);
        parts.add(loop.clock());
        parts.add(stats);
        parts.add(masters.coordinators());
//# before 1.13
        parts.add(job.all(true));
        parts.add(job.all(false));
        parts.add(job.all(false));
        parts.add(storage.as(StateBackend.class));
        parts.add(SharedStateRegistry.DEFAULT_FACTORY);
//# end
//# from 1.12
        cleaner = settings.slowCleaning ? new SlowCleaner(effects) : new CheckpointsCleaner();
        parts.add(cleaner);
//# end
//# from 1.13
        parts.add(storage.as(CheckpointStorage.class));
        CheckpointPlanCalculatorContext context = Fakes.of(
                CheckpointPlanCalculatorContext.class,
                (proxy, method, arguments) ->
                        method.getName().equals("hasFinishedTasks") ? (Object) job.hasFinished() : loop.executor());
        CheckpointPlanCalculator plans = Reflect.make(
                DefaultCheckpointPlanCalculator.class, job.id, context, job.vertices(), settings.finishedTasks);
        parts.add(plans);
//# end
//# from 1.13 before 1.18
        parts.add(new ExecutionAttemptMappingProvider(Arrays.asList(job.all(false))));
//# end
//# from 1.13 before 1.15
        parts.add(SharedStateRegistry.DEFAULT_FACTORY);
//# end
//# from 1.14
        parts.add(checker());
//# end
        flink = Reflect.make(CheckpointCoordinator.class, parts.toArray());
//# before 1.10
        OwnTimer.replace(flink, loop);
//# end
//# before 1.15
        flink.setCheckpointStatsTracker(stats);
//# end
        requests = new Requests(flink);
        Reflect.set(flink, "masterHooks", new LinkedHashMap<>()); // hooks are called in the order of the configuration
        for (MasterTriggerRestoreHook<?> hook : masters.hooks()) {
            flink.addMasterHook(hook);
        }
//# from 2.3
        Reflect.set(flink, "initialTriggeringDelay", settings.initialDelay);
        Reflect.set(flink, "triggerDelay", settings.initialDelay);
//# end
        pending = new Watching();
        Reflect.set(flink, "pendingCheckpoints", pending);
        if (Fields.has(flink, "requestDecider")) {
            Object decider = Fields.get(flink, "requestDecider"); // it reads the map that `Watching` replaces
            Reflect.set(decider, SIZE, Fakes.of(
                    Reflect.type(decider, SIZE), (proxy, method, arguments) -> pending.size()));
        }
        listener = (JobStatusListener) (Reflect.has(CheckpointCoordinator.class, "createActivatorDeactivator", 1)
                ? Reflect.call(flink, "createActivatorDeactivator", true)
                : Reflect.call(flink, "createActivatorDeactivator"));
        register();
        states.use(this::registry, retained());
//# from 2.3
        for (String task : settings.tasks) { // all are scheduled before the job runs
            taskStatus(job.attempt(task, null), ExecutionState.CREATED, ExecutionState.SCHEDULED);
        }
//# end
    }
//# from 1.14

    private static Object checker() {
        BiFunction<Set<org.apache.flink.runtime.executiongraph.ExecutionJobVertex>,
                Map<org.apache.flink.runtime.jobgraph.OperatorID, org.apache.flink.runtime.checkpoint.OperatorState>,
                VertexFinishedStateChecker> checker = VertexFinishedStateChecker::new;
        return checker;
    }
//# end

    /** The map of pending checkpoints. It records the end of each one as an effect when Flink completes its future. */
    private final class Watching extends LinkedHashMap<Long, PendingCheckpoint> {
        private static final long serialVersionUID = 1L;

        @Override
        public PendingCheckpoint put(Long checkpoint, PendingCheckpoint fresh) {
            CompletableFuture<CompletedCheckpoint> end = fresh.getCompletionFuture();
            open.put(end, checkpoint);
            end.whenComplete((done, failure) -> ended(checkpoint, end, failure));
            return super.put(checkpoint, fresh);
        }
    }

    CheckpointCoordinator flink() {
        return flink;
    }

    Retained store() {
        return store;
    }

    Map<Long, PendingCheckpoint> pending() {
        return pending;
    }

    void jobStatus(JobStatus next) throws Exception {
        if (settings.interval < 0) {
            if (next != JobStatus.RUNNING) {
                flink.stopCheckpointScheduler(); // Flink's listener exists only with an interval
            }
            return;
        }
//# before 2.3
        boolean starts = next == JobStatus.RUNNING;
        loop.firstDelay(starts ? settings.initialDelay : -1);
//# end
        try {
            Reflect.callFilled(listener, "jobStatusChanges", job.id, next, loop.now(), new FlinkException("a change of status"));
        } catch (IllegalArgumentException refused) { // other listeners of the job are still notified
            effects.add("fail", "error", refused.getClass().getSimpleName());
        }
        loop.firstDelay(-1);
//# from 1.19 before 2.3
        if (starts) {
            Reflect.set(flink, "nextCheckpointTriggeringRelativeTime", loop.relative() + settings.initialDelay);
        }
//# end
    }

    void taskStatus(ExecutionAttemptID attempt, ExecutionState before, ExecutionState next) throws Exception {
//# from 2.3
        boolean starts = next == ExecutionState.RUNNING && settings.interval >= 0 && !flink.isShutdown();
        if (starts && !flink.isPeriodicCheckpointingStarted()) {
            flink.startCheckpointScheduler(); // as the execution graph does for a task that runs
        }
        try {
            ((ExecutionStateUpdateListener) listener).onStateUpdate(attempt, before, next);
        } catch (IllegalArgumentException refused) {
            effects.add("fail", "error", refused.getClass().getSimpleName());
        }
//# end
    }

    Requests requests() {
        return requests;
    }

    /** Registers the shared state of the retained checkpoints, as a coordinator up to 1.14 does when it restores. */
    private void register() {
//# before 1.15
        for (CompletedCheckpoint one : store.getAllCheckpoints()) {
            one.registerSharedStatesAfterRestored((SharedStateRegistry) registry());
        }
//# end
    }

    /** Flink's registry of shared state. */
    Object registry() {
//# before 1.15
        return Fields.get(flink, "sharedStateRegistry");
//# end
//# from 1.15
        return store.getSharedStateRegistry();
//# end
    }

    Masters masters() {
        return masters;
    }

    /** Restores these tasks from the newest checkpoint. Returns its id, or null if there is none. */
    Long restore(List<String> tasks, boolean region) throws Exception {
        Set<ExecutionJobVertex> vertices = new HashSet<>();
        for (String task : tasks) {
            vertices.add(job.vertex(task).getJobVertex());
        }
        restored = null;
//# before 1.10
        Map<JobVertexID, ExecutionJobVertex> byId = new HashMap<>();
        vertices.forEach(vertex -> byId.put(vertex.getJobVertexId(), vertex));
        flink.restoreLatestCheckpointedState(byId, false, true);
//# end
//# from 1.10 before 1.11
        flink.restoreLatestCheckpointedState(vertices, false, true);
//# end
//# from 1.11
        if (region) {
            flink.restoreLatestCheckpointedStateToSubtasks(vertices);
        } else {
            flink.restoreLatestCheckpointedStateToAll(vertices, true);
        }
//# end
        return restored;
    }

    void deleted() {
//# from 1.12
        ((SlowCleaner) cleaner).endOldest();
//# end
    }

    void shutdown(JobStatus last) throws Exception {
        if (!flink.isShutdown()) {
            store.shut(last);
        }
//# before 1.13
        flink.shutdown(last);
//# end
//# from 1.13
        if (!flink.isShutdown()) {
            flink.shutdown();
            store.shutdown(last, cleaner);
        }
//# end
    }

    private void ended(long checkpoint, CompletableFuture<?> end, Throwable failure) {
        if (open.remove(end) == null) {
            return;
        }
        if (failure == null) {
            effects.add("complete", "checkpoint", checkpoint);
        } else {
            ends.add(Reasons.root(failure));
            effects.abort(checkpoint, Reasons.ofEnd(failure));
        }
    }

    /** Records ends that our callback has not received yet: a future calls its last callback first. */
    private void reportEnds() {
        for (Map.Entry<CompletableFuture<?>, Long> entry : new ArrayList<>(open.entrySet())) {
            CompletableFuture<?> end = entry.getKey();
            if (end.isDone()) {
                end.whenComplete((done, failure) -> ended(entry.getValue(), end, failure));
            }
        }
    }

    /** Whether a pending checkpoint ended with this failure. If not, it belongs to a request that started nothing. */
    boolean ended(Throwable failure) {
        reportEnds();
        return ends.contains(Reasons.root(failure));
    }

    List<Long> retained() {
        List<Long> ids = new ArrayList<>();
        for (CompletedCheckpoint one : store.getAllCheckpoints()) {
            ids.add(one.getCheckpointID());
        }
        return ids;
    }

    long nextId() {
        return counter.get();
    }

    List<String> queued() {
        List<String> types = new ArrayList<>();
        if (Fields.has(flink, "requestDecider")) {
            for (Object request : (Collection<?>) Fields.get(Fields.get(flink, "requestDecider"), "queuedRequests")) {
                types.add(Kinds.of(Fields.get(request, "props")));
            }
        }
        return types;
    }
}
