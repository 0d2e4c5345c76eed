package org.apache.flink.runtime.checkpoint;

import java.util.function.LongConsumer;
//# before 2.0
import java.util.Collections;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointCoordinatorConfiguration;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
//# end
//# from 2.0
import java.lang.reflect.Proxy;
//# end

/** Flink's statistics of checkpoints. This class records the checkpoint from which a job is restored. */
//# before 2.0
public final class WatchedStats extends CheckpointStatsTracker {
    private final LongConsumer restored;

    private WatchedStats(CheckpointCoordinatorConfiguration configuration, ExecutionJobVertex one, LongConsumer restored) {
//# end
//# before 1.13
        super(1, Collections.singletonList(one), configuration,
                UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup());
//# end
//# from 1.13 before 1.15
        super(1, configuration, UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup());
//# end
//# from 1.15 before 1.19
        super(1, UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup());
//# end
//# from 1.19 before 2.0
        super(1, UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup(), new JobID());
//# end
//# before 2.0
        this.restored = restored;
    }

    @Override
    void reportRestoredCheckpoint(RestoredCheckpointStats stats) {
        restored.accept(stats.getCheckpointId());
        super.reportRestoredCheckpoint(stats);
    }
//# end
//# from 1.19 before 2.0

    @Override
    public void reportRestoredCheckpoint(long checkpoint, CheckpointProperties properties, String path, long size) {
        restored.accept(checkpoint);
    }
//# end
//# before 2.0

    public static CheckpointStatsTracker of(
            CheckpointCoordinatorConfiguration configuration, ExecutionJobVertex one, LongConsumer restored) {
        return new WatchedStats(configuration, one, restored);
    }
}
//# end
//# from 2.0
public final class WatchedStats {
    private WatchedStats() {}

    public static CheckpointStatsTracker of(Object configuration, Object one, LongConsumer restored) {
        return (CheckpointStatsTracker) Proxy.newProxyInstance(
                WatchedStats.class.getClassLoader(),
                new Class<?>[] {CheckpointStatsTracker.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("reportRestoredCheckpoint")) {
                        restored.accept((Long) arguments[0]);
                    }
                    return null;
                });
    }
}
//# end
