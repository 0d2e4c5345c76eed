package barrierspec.flink;

import java.lang.reflect.InvocationHandler;
import java.util.concurrent.Executor;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.blob.VoidBlobWriter;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.jobgraph.DistributionPattern;
import org.apache.flink.runtime.jobgraph.JobVertex;
//# before 2.0
import org.apache.flink.api.common.time.Time;
//# end
//# from 2.0
import java.time.Duration;
//# end
//# before 1.13
import java.util.Collections;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.executiongraph.ExecutionGraph;
import org.apache.flink.runtime.executiongraph.JobInformation;
import org.apache.flink.runtime.executiongraph.failover.FailoverStrategy;
import org.apache.flink.runtime.executiongraph.restart.NoRestartStrategy;
import org.apache.flink.runtime.jobgraph.ScheduleMode;
import org.apache.flink.runtime.shuffle.NettyShuffleMaster;
import org.apache.flink.util.SerializedValue;
//# end
//# before 1.10
import org.apache.flink.runtime.executiongraph.failover.RestartAllStrategy;
//# end
//# from 1.10 before 1.13
import org.apache.flink.runtime.executiongraph.failover.NoOpFailoverStrategy;
//# end
//# from 1.13
import org.apache.flink.runtime.executiongraph.InternalExecutionGraphAccessor;
import org.apache.flink.runtime.scheduler.VertexParallelismInformation;
//# end
//# from 1.16
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
//# end
//# from 2.0
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
//# end

/** Makes vertices of one subtask, in the way of each release. The graph that contains them is a fake. */
final class Vertices {
    static final int MAX_PARALLELISM = 128;

    private final Object graph;

    Vertices(JobID job, Executor direct) throws Exception {
//# before 1.13
        JobInformation information = new JobInformation(
                job, "job", new SerializedValue<>(new ExecutionConfig()), new Configuration(),
                Collections.emptyList(), Collections.emptyList());
        FailoverStrategy.Factory failover;
//# end
//# before 1.10
        failover = RestartAllStrategy::new; // nothing fails in this graph
//# end
//# from 1.10 before 1.13
        failover = any -> new NoOpFailoverStrategy();
//# end
//# before 1.13
        graph = Reflect.make(
                ExecutionGraph.class, information, direct, timeout(), timeout(), new NoRestartStrategy(), 1, 0L, failover,
                Vertices.class.getClassLoader(), VoidBlobWriter.getInstance(), NettyShuffleMaster.INSTANCE,
                ScheduleMode.EAGER, false);
//# end
//# from 1.13
        InvocationHandler calls = (proxy, method, arguments) -> {
            Class<?> type = method.getReturnType();
            if (type == JobID.class) {
                return job;
            }
            if (type == Executor.class) {
                return direct;
            }
            if (type == ClassLoader.class) {
                return Vertices.class.getClassLoader();
            }
            if (type.isInstance(VoidBlobWriter.getInstance())) {
                return VoidBlobWriter.getInstance();
            }
//# end
//# from 1.16
            if (type == ExecutionGraphID.class) {
                return new ExecutionGraphID();
            }
//# end
//# from 1.13
            return type.isInterface() ? Fakes.silent(type) : Fakes.nothing(type);
        };
        graph = Fakes.of(InternalExecutionGraphAccessor.class, calls);
//# end
    }

    /** The time-out of a call, in the type that the release uses. */
    static Object timeout() {
//# before 2.0
        return Time.seconds(10);
//# end
//# from 2.0
        return Duration.ofSeconds(10);
//# end
    }

    /** The id of an execution that is not of this job. */
    static ExecutionAttemptID strange(ExecutionAttemptID one) {
//# before 1.16
        return new ExecutionAttemptID();
//# end
//# from 1.16
        return new ExecutionAttemptID(new ExecutionGraphID(), one.getExecutionVertexId(), 0);
//# end
    }

    static void connect(JobVertex source, JobVertex task) {
//# before 2.0
        task.connectNewDataSetAsInput(source, DistributionPattern.ALL_TO_ALL, ResultPartitionType.PIPELINED);
//# end
//# from 2.0
        task.connectNewDataSetAsInput(
                source, DistributionPattern.ALL_TO_ALL, ResultPartitionType.PIPELINED, new IntermediateDataSetID(), false, false);
//# end
    }

    ExecutionJobVertex of(JobVertex planned) throws Exception {
//# before 1.13
        return Reflect.make(ExecutionJobVertex.class, graph, planned, 1, timeout(), 0L);
//# end
//# from 1.13
        VertexParallelismInformation parallelism = Fakes.of(
                VertexParallelismInformation.class,
                (proxy, method, arguments) -> method.getName().equals("getParallelism")
                        ? (Object) 1
                        : method.getReturnType() == int.class ? (Object) MAX_PARALLELISM : Fakes.nothing(method.getReturnType()));
//# end
//# from 1.13 before 1.15
        return Reflect.make(ExecutionJobVertex.class, graph, planned, 1, timeout(), 0L, parallelism);
//# end
//# from 1.15
        ExecutionJobVertex vertex = Reflect.make(
                ExecutionJobVertex.class, graph, planned, parallelism
//# end
//# from 1.16
                , UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup()
//# end
//# from 1.15
                );
        Object metrics = null;
//# end
//# from 1.18
        metrics = UnregisteredMetricGroups.createUnregisteredJobManagerJobMetricGroup();
//# end
//# from 1.15
        Reflect.callFilled(vertex, "initialize", 1, timeout(), 0L, metrics);
        return vertex;
//# end
    }
//# before 1.13

//# end
}
