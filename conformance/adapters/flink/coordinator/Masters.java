package barrierspec.flink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.runtime.checkpoint.MasterTriggerRestoreHook;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.util.FlinkException;
//# from 1.11
import org.apache.flink.runtime.checkpoint.OperatorCoordinatorCheckpointContext;
//# end

/** Fake operator coordinators and master hooks. A call of Flink to them is an effect, and an event is the answer. */
final class Masters {
    private final Settings settings;
    private final CoordinatorEffects effects;
    private final Map<String, CompletableFuture<Object>> requested = new HashMap<>();

    Masters(Settings settings, CoordinatorEffects effects) {
        this.settings = settings;
        this.effects = effects;
    }

    /** Answers the call for a checkpoint. `kind`: the event, `coordinator` or `hook` with `_done` or `_fails`. */
    void answer(String name, long checkpoint, String kind) {
        CompletableFuture<Object> future =
                requested.remove((kind.startsWith("hook") ? "hook " : "coordinator ") + name + '@' + checkpoint);
        if (future == null) {
            return;
        }
        if (kind.endsWith("_done")) {
            future.complete(kind.startsWith("hook") ? (Object) name : new byte[0]);
        } else {
            future.completeExceptionally(new FlinkException("it could not be checkpointed"));
        }
    }

    List<MasterTriggerRestoreHook<?>> hooks() {
        List<MasterTriggerRestoreHook<?>> hooks = new ArrayList<>();
        for (String name : settings.hooks) {
            hooks.add(Fakes.of(MasterTriggerRestoreHook.class, (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "getIdentifier":
                        return name;
                    case "triggerCheckpoint":
                        effects.add("trigger_hook", "name", name, "checkpoint", arguments[0]);
                        CompletableFuture<Object> future = new CompletableFuture<>();
                        requested.put("hook " + name + '@' + arguments[0], future);
                        return future;
                    case "createCheckpointDataSerializer":
                        return Fakes.of(SimpleVersionedSerializer.class, (any, called, given) ->
                                called.getName().equals("serialize")
                                        ? new byte[0]
                                        : called.getName().equals("deserialize") ? name : Fakes.nothing(called.getReturnType()));
                    default:
                        return Fakes.nothing(method.getReturnType());
                }
            }));
        }
        return hooks;
    }

    /** One context for each operator coordinator. Each belongs to a different operator. */
    List<Object> coordinators() {
        List<Object> contexts = new ArrayList<>();
//# from 1.11
        for (String name : settings.operatorCoordinators) {
            OperatorID operator = new OperatorID(2, contexts.size());
            contexts.add(Fakes.of(OperatorCoordinatorCheckpointContext.class, (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "operatorId":
                        return operator;
                    case "maxParallelism":
                        return Vertices.MAX_PARALLELISM;
                    case "currentParallelism":
                        return 1;
                    case "checkpointCoordinator":
                        effects.add("checkpoint_coordinator", "name", name, "checkpoint", arguments[0]);
                        @SuppressWarnings("unchecked")
                        CompletableFuture<Object> future = (CompletableFuture<Object>) arguments[1];
                        requested.put("coordinator " + name + '@' + arguments[0], future);
                        return null;
                    case "notifyCheckpointComplete":
                        effects.add("notify_coordinator", "name", name, "checkpoint", arguments[0], "what", "complete");
                        return null;
                    case "notifyCheckpointAborted":
                        effects.add("notify_coordinator", "name", name, "checkpoint", arguments[0], "what", "abort");
                        return null;
                    default:
                        return Fakes.nothing(method.getReturnType());
                }
            }));
        }
//# end
        return contexts;
    }
}
