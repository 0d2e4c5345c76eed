package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobID;
//# before 1.10
import org.apache.flink.runtime.jobgraph.JobStatus;
//# end
//# from 1.10
import org.apache.flink.api.common.JobStatus;
//# end
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.StandaloneCompletedCheckpointStore;
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
//# end
//# from 1.15
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
//# end

/** Component `store`: Flink's own store of completed checkpoints. */
final class Storing implements Component {
    private final CoordinatorEffects effects;
    private final Storage storage;
    private final StandaloneCompletedCheckpointStore store;
    private boolean isShut;
//# from 1.12
    private final CheckpointsCleaner cleaner = new CheckpointsCleaner();
//# end

    Storing(Map<String, Object> wire, Release release) {
        Settings.checkProfile(wire, release);
        long retain = Config.number(wire, "retain", 1);
        if (retain < 1) {
            throw new Refused("retain: expected an int from 1 on, got " + retain);
        }
        effects = new CoordinatorEffects(true);
        storage = new Storage(effects, new States(effects, Collections.emptyList()), new IoFailures(effects));
        store = new StandaloneCompletedCheckpointStore((int) retain);
    }

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.begin();
        if (isShut) {
            throw new Refused("the store is shut down; nothing follows");
        }
        try {
            apply(event);
        } catch (Refused refused) {
            throw refused;
        } catch (Exception thrown) {
            System.err.println(event + ": " + thrown);
            effects.add("fail", "error", thrown.getClass().getSimpleName());
        }
        return effects.end();
    }

    private void apply(Map<String, Object> event) throws Exception {
        switch (String.valueOf(event.get("kind"))) {
            case "add":
                add(Config.number(event, "checkpoint", -1), (String) event.getOrDefault("type", "checkpoint"));
                break;
            case "latest":
                List<Long> ids = retained();
                effects.add("latest", "checkpoint", ids.isEmpty() ? null : ids.get(ids.size() - 1));
                break;
            case "shutdown":
                isShut = true;
                JobStatus last = Settings.flag(event, "discard", false) ? JobStatus.FINISHED : JobStatus.CANCELED;
//# before 1.12
                store.shutdown(last);
//# end
//# from 1.12 before 1.13
                store.shutdown(last, cleaner, () -> {});
//# end
//# from 1.13
                store.shutdown(last, cleaner);
//# end
                break;
            default:
                throw new Refused("kind: expected an event of a store, got " + event.get("kind"));
        }
    }

    private void add(long id, String type) throws Exception {
        if (retained().contains(id)) {
            throw new Refused("checkpoint: expected an id that the store does not hold, got " + id);
        }
        CheckpointProperties properties = type.equals("checkpoint")
                ? CheckpointProperties.forCheckpoint(CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION)
                : Kinds.savepoint(type, true, false);
        CompletedCheckpoint checkpoint = new CompletedCheckpoint(
                new JobID(0, 1), id, 0, 0, new HashMap<>(), new ArrayList<>(), properties, storage.completed(id)
//# from 1.15
                , (CompletedCheckpointStats) null
//# end
//# from 1.12
                );
//# end
//# before 1.12
                );
        store.addCheckpoint(checkpoint);
//# end
//# from 1.12 before 1.15
        store.addCheckpoint(checkpoint, cleaner, () -> {});
//# end
//# from 1.15
        CompletedCheckpoint last = store.addCheckpointAndSubsumeOldestOne(checkpoint, cleaner, () -> {});
        if (last != null && !last.getProperties().isSavepoint()) {
            effects.add("subsumed", "checkpoint", last.getCheckpointID());
        }
//# end
    }

    private List<Long> retained() {
        List<Long> ids = new ArrayList<>();
        for (CompletedCheckpoint one : store.getAllCheckpoints()) {
            ids.add(one.getCheckpointID());
        }
        return ids;
    }

    @Override
    public Map<String, Object> state() {
        return Collections.singletonMap("completed", retained());
    }
}
