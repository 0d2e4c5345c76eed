package barrierspec.flink;

import java.util.Collections;
import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.util.InstantiationUtil;
//# before 1.10
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureManager;
//# end
//# from 1.15
import org.apache.flink.core.execution.SavepointFormatType;
//# end

/** Makes requests: those of a user, and those (forced, periodic) that only the coordinator itself makes. */
final class Requests {
    private static final String WHERE = "savepoints";

    private static final String QUEUE = "queuedRequests";
    private static final String MANAGER = "failureManager";

    private final CheckpointCoordinator flink;
    private long numbered;
    private BiConsumer<Object, Throwable> listener;

//# before 1.10
    /** Flink's count of failures. It keeps the reason of the last rejection, because 1.9 returns only a boolean. */
    static final class Refusals extends CheckpointFailureManager {
        private CheckpointException last;

        Refusals(int tolerable, FailJobCallback callback) {
            super(tolerable, callback);
        }

        @Override
        public void handleJobLevelCheckpointException(CheckpointException why, long checkpoint) {
            last = why;
            super.handleJobLevelCheckpointException(why, checkpoint);
        }
    }

//# end
    Requests(CheckpointCoordinator flink) {
        this.flink = flink;
        if (Fields.has(flink, "requestDecider")) {
            number(Fields.get(flink, "requestDecider"));
        }
    }

    /** Numbers the waiting requests. Flink compares their wall-clock times last; the numbers replace these times. */
    @SuppressWarnings("unchecked")
    private void number(Object decider) {
        Comparator<Object> order = (Comparator<Object>) ((TreeSet<Object>) Fields.get(decider, QUEUE)).comparator();
        Set<Object> seen = Collections.newSetFromMap(new WeakHashMap<>());
        Reflect.set(decider, QUEUE, new TreeSet<>((one, other) -> {
            for (Object request : new Object[] {other, one}) { // one of the two is the new request
                if (seen.add(request)) {
                    listen(request);
                    Reflect.set(request, "timestamp", numbered++);
                }
            }
            return order.compare(one, other);
        }));
    }

    /** Sets the listener that is notified of the end of the next request before any other effect of this end. */
    void listener(BiConsumer<Object, Throwable> next) {
        listener = next;
    }

    /** Registers the listener now: Flink may reject this request before it returns the request's future. */
    private void listen(Object request) {
        if (listener != null) {
            ((CompletableFuture<?>) Fields.get(request, "onCompletionPromise")).whenComplete(listener::accept);
            listener = null;
        }
    }

    CompletableFuture<CompletedCheckpoint> ask(String type, boolean forced, boolean periodic, boolean drain)
            throws Exception {
        if (type.equals("checkpoint") ? forced : periodic || forced && !savepointsAreForced()) {
            return special(type, forced, periodic, drain);
        }
        switch (type) {
            case "checkpoint":
//# before 1.10
                CompletableFuture<CompletedCheckpoint> requested = new CompletableFuture<>();
                if (!flink.triggerCheckpoint(0, periodic)) {
                    requested.completeExceptionally(((Refusals) Fields.get(flink, MANAGER)).last);
                }
                return requested;
//# end
//# from 1.10 before 1.11
                return flink.triggerCheckpoint(0, periodic);
//# end
//# from 1.11
                return flink.triggerCheckpoint(periodic);
//# end
            case "savepoint":
//# before 1.11
                return flink.triggerSavepoint(0, WHERE);
//# end
//# from 1.11 before 1.15
                return flink.triggerSavepoint(WHERE);
//# end
//# from 1.15
                return flink.triggerSavepoint(WHERE, SavepointFormatType.CANONICAL);
//# end
            default:
//# before 1.11
                return flink.triggerSynchronousSavepoint(0, drain, WHERE);
//# end
//# from 1.11 before 1.15
                return flink.triggerSynchronousSavepoint(drain, WHERE);
//# end
//# from 1.15
                return flink.triggerSynchronousSavepoint(drain, WHERE, SavepointFormatType.CANONICAL);
//# end
        }
    }

    private CompletableFuture<CompletedCheckpoint> special(String type, boolean forced, boolean periodic, boolean drain)
            throws Exception {
        CheckpointProperties properties = InstantiationUtil.clone(properties(type, drain));
        if (forced) {
            Reflect.set(properties, "forced", true);
        }
        String where = type.equals("checkpoint") ? null : WHERE;
//# before 1.11
        CompletableFuture<CompletedCheckpoint> requested;
        try {
            requested = flink.triggerCheckpoint(0, properties, where, periodic, drain)
//# end
//# before 1.10
                    .getCompletionFuture()
//# end
//# before 1.11
                    ;
        } catch (org.apache.flink.runtime.checkpoint.CheckpointException refused) {
            requested = new CompletableFuture<>();
            requested.completeExceptionally(refused);
        }
        if (type.equals("stop")) { // as Flink does at a request to stop
            requested.whenComplete((done, failure) -> {
                if (failure != null) {
                    failed(failure);
                }
            });
        }
        return requested;
//# end
//# from 1.11
        @SuppressWarnings("unchecked")
        CompletableFuture<CompletedCheckpoint> requested = (CompletableFuture<CompletedCheckpoint>)
                Reflect.call(flink, "triggerCheckpoint", properties, where, periodic);
        return requested;
//# end
    }

//# before 1.11
    private void failed(Throwable failure) {
        try {
            Reflect.call(Fields.get(flink, MANAGER), "handleSynchronousSavepointFailure", failure);
        } catch (Exception thrown) {
            throw new IllegalStateException(thrown);
        }
    }
//# end

    private CheckpointProperties properties(String type, boolean drain) {
        if (type.equals("checkpoint")) {
            return (CheckpointProperties) Fields.get(flink, "checkpointProperties");
        }
        return Kinds.savepoint(type, savepointsAreForced(), drain);
    }

    private boolean savepointsAreForced() {
        return !Fields.has(flink, "unalignedCheckpointsEnabled")
                || !(Boolean) Fields.get(flink, "unalignedCheckpointsEnabled");
    }
}
