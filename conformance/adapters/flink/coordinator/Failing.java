package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureManager;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
//# from 1.14.3
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.PendingCheckpoint;
//# end
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;

/** Flink's count of failed checkpoints (`CheckpointFailureManager`), without a coordinator. */
final class Failing implements Component {
    private final Effects effects = new Effects();
    private final CheckpointFailureManager manager;
    private final ExecutionAttemptID task = Bare.of(ExecutionAttemptID.class);

    Failing(Map<String, Object> config, Release release) {
        Settings.checkProfile(config, release);
        int tolerable = ((Number) config.getOrDefault("tolerable_failures", 0L)).intValue();
        manager = new CheckpointFailureManager(
                tolerable < 0 ? CheckpointFailureManager.UNLIMITED_TOLERABLE_FAILURE_NUMBER : tolerable,
                Fakes.of(CheckpointFailureManager.FailJobCallback.class, (proxy, method, arguments) -> {
                    effects.add("fail_job");
                    return null;
                }));
    }

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.take();
        long id = ((Number) event.get("checkpoint")).longValue();
        try {
            if (event.get("kind").equals("success")) {
                manager.handleCheckpointSuccess(id);
            } else {
                CheckpointFailureReason reason = Reasons.named(String.valueOf(event.get("reason")));
                failed(id, String.valueOf(event.get("type")), new CheckpointException(reason), event.get("by_task") == Boolean.TRUE);
            }
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
        return effects.take();
    }
//# before 1.14.3

    private void failed(long id, String type, CheckpointException why, boolean byTask) {
        if (!type.equals("checkpoint")) {
            throw new Unsupported("a failing " + type + "; up to 1.14.2 the coordinator deals with it");
        }
        if (byTask) {
            manager.handleTaskLevelCheckpointException(why, id, task);
        } else {
            manager.handleJobLevelCheckpointException(why, id);
        }
    }
//# end
//# from 1.14.3

    /** Reports a failure as one of a task or one of the coordinator, as the manager itself classifies it. */
    private void failed(long id, String type, CheckpointException why, boolean byTask) throws Exception {
        CheckpointProperties properties = type.equals("checkpoint")
                ? CheckpointProperties.forCheckpoint(CheckpointRetentionPolicy.NEVER_RETAIN_AFTER_TERMINATION)
                : Kinds.savepoint(type, true, false);
        if ((Boolean) Reflect.call(manager, "isJobManagerFailure", why, byTask ? task : null)) {
            Reflect.call(manager, "handleJobLevelCheckpointException", properties, why, id);
        } else {
            Reflect.call(manager, "handleTaskLevelCheckpointException", pending(id, properties), why, task);
        }
    }

    /** A pending checkpoint that has only an id and a type, because the manager reads nothing else. */
    private static PendingCheckpoint pending(long id, CheckpointProperties properties) throws Exception {
        PendingCheckpoint pending = Bare.of(PendingCheckpoint.class);
        Reflect.set(pending, "checkpointId", id);
        Reflect.set(pending, "props", properties);
        return pending;
    }
//# end

    @Override
    public Map<String, Object> state() {
        long counted = ((Number) Fields.get(manager, "continuousFailureCounter")).longValue();
        return Collections.singletonMap("counted", counted);
    }
}
