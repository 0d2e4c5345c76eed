package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.Environment;
//# from 1.11
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
//# end
//# before 1.11
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.state.CheckpointStorageWorkerView;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
//# end

/** Takes the snapshots of a task: with its `SubtaskCheckpointCoordinatorImpl`, up to 1.10 with the task itself. */
final class SnapshotSteps {
//# from 1.11
    /** Number of aborts that a task remembers up to 1.16. */
    private static final int REMEMBERED = 128;
    private final Object coordinator;

    SnapshotSteps(RestoredTask task, Release release, int concurrent, ExecutorService executor, Environment environment) {
        int remembered = release.isAtLeast(1, 17) ? concurrent : REMEMBERED;
        try {
            Class<?> type = Class.forName("org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinatorImpl");
            coordinator = Reflect.makeWith(
                    ChannelStateWriter.class, type, "task", StreamTaskActionExecutor.IMMEDIATE, executor, environment, remembered, true,
                    ChannelStateWriter.NO_OP, new CloseableRegistry());
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException(absent);
        }
        if (Fields.has(coordinator, "fileMergingSnapshotManager")) {
            Reflect.set(coordinator, "fileMergingSnapshotManager", null);
        }
        Reflect.set(task, "subtaskCheckpointCoordinator", coordinator);
    }

    /** Cancels the asynchronous parts that run. */
    void close() throws Exception {
        Reflect.call(coordinator, "close");
    }

    /** Adds the fields of the release to the observable state, under the names of the protocol. */
    void describe(Map<String, Object> state) {
        state.put("last", Fields.get(coordinator, "lastCheckpointId"));
        state.put("aborted", new ArrayList<Object>((Collection<?>) Fields.get(coordinator, "abortedCheckpointIds")));
        state.put("running", new ArrayList<Object>(new TreeMap<>((Map<?, ?>) Fields.get(coordinator, "checkpoints")).keySet()));
        if (Fields.has(coordinator, "maxAbortedCheckpointId")) {
            long highest = (Long) Fields.get(coordinator, "maxAbortedCheckpointId");
            state.put("highest_aborted", highest == 0 ? -1 : highest);
        }
    }
//# end
//# before 1.11
    private final CloseableRegistry cancelables = new CloseableRegistry();

    SnapshotSteps(RestoredTask task, Release release, int concurrent, ExecutorService executor, Environment environment) {
        Reflect.set(task, "cancelables", cancelables);
        Reflect.set(task, "asyncOperationsThreadPool", executor);
        Reflect.set(task, "checkpointStorage", Fakes.of(CheckpointStorageWorkerView.class, (proxy, method, arguments) ->
                method.getReturnType() == CheckpointStreamFactory.class
                        ? Fakes.silent(CheckpointStreamFactory.class) : Fakes.nothing(method.getReturnType())));
    }

    /** Cancels the asynchronous parts that run. */
    void close() throws Exception {
        cancelables.close();
    }

    /** Adds the asynchronous parts that run to the observable state. The task keeps nothing else. */
    void describe(Map<String, Object> state) {
        TreeSet<Object> running = new TreeSet<>();
        for (Object part : ((Map<?, ?>) Fields.get(cancelables, "closeableToRef")).keySet()) {
            running.add(((CheckpointMetaData) Fields.get(part, "checkpointMetaData")).getCheckpointId());
        }
        state.put("running", new ArrayList<>(running));
    }
//# end
}
