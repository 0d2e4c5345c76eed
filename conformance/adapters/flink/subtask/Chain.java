package barrierspec.flink;

//# from 1.14
import java.util.Map;
import java.util.function.Supplier;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.runtime.tasks.RegularOperatorChain;
//# end
//# before 1.14
import org.apache.flink.streaming.runtime.tasks.OperatorChain;
//# end
//# from 1.11
import org.apache.flink.runtime.event.AbstractEvent;
//# end
//# before 1.11
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
//# end
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.runtime.io.RecordWriterOutput;
import org.apache.flink.streaming.runtime.tasks.StreamTask;
//# from 1.11 before 1.14
import org.apache.flink.streaming.runtime.tasks.StreamOperatorWrapper;
//# end

/**
 * A chain of operators. It is made without running a constructor.
 *
 * <p>From 1.14 on the chain takes the snapshots and passes on the notifications, and this chain has no operators.
 * Up to 1.13 the coordinator of the subtask calls each operator of the chain, and this chain has one operator.
 */
//# from 1.14
final class Chain extends RegularOperatorChain<Object, StreamOperator<Object>> {
//# end
//# before 1.14
final class Chain extends OperatorChain<Object, StreamOperator<Object>> {
//# end
    private Operators operators;

    private Chain(StreamTask<Object, StreamOperator<Object>> task, Void never) {
        super(task, null);
    }

    static Object of(Operators operators) {
        Chain chain = Bare.of(Chain.class);
        chain.operators = operators;
        Reflect.set(chain, "streamOutputs", new RecordWriterOutput<?>[0]);
//# from 1.11 before 1.14
        Reflect.set(chain, "numOperators", 1);
        Object wrapper = Bare.of(StreamOperatorWrapper.class);
        Reflect.set(wrapper, "wrapped", operators.operator());
        for (String place : new String[] {"headOperatorWrapper", "mainOperatorWrapper", "firstOperatorWrapper", "tailOperatorWrapper"}) {
            if (Fields.has(chain, place)) {
                Reflect.set(chain, place, wrapper);
            }
        }
//# end
//# before 1.11
        Reflect.set(chain, "allOperators", new StreamOperator<?>[] {operators.operator()});
//# end
        return chain;
    }
//# from 1.14

    @Override
    public void prepareSnapshotPreBarrier(long checkpoint) {}

    @Override
    public void snapshotState(
            Map<OperatorID, OperatorSnapshotFutures> futures,
            CheckpointMetaData data,
            CheckpointOptions options,
            Supplier<Boolean> isRunning,
            ChannelStateWriter.ChannelStateWriteResult channels,
            CheckpointStreamFactory streams)
            throws Exception {
        futures.put(new OperatorID(), operators.snapshot(data.getCheckpointId()));
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
        operators.notified("notify_complete", checkpoint);
    }

    @Override
    public void notifyCheckpointAborted(long checkpoint) {
        operators.notified("notify_abort", checkpoint);
    }
//# end
//# from 1.15

    @Override
    public void notifyCheckpointSubsumed(long checkpoint) {
        operators.notified("notify_subsumed", checkpoint);
    }
//# end
//# from 1.11

    @Override
    public void broadcastEvent(AbstractEvent event) {
        operators.broadcast(event);
    }

    @Override
    public void broadcastEvent(AbstractEvent event, boolean first) {
        operators.broadcast(event);
    }
//# end
//# before 1.11

    @Override
    public void broadcastCheckpointBarrier(long checkpoint, long timestamp, CheckpointOptions options) {
        operators.broadcast(new CheckpointBarrier(checkpoint, timestamp, options));
    }

    @Override
    public void broadcastCheckpointCancelMarker(long checkpoint) {
        operators.broadcast(new CancelCheckpointMarker(checkpoint));
    }
//# end
}
