package barrierspec.flink;

import java.util.Map;
import java.util.function.Supplier;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterDelegate;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.runtime.io.RecordWriterOutput;
import org.apache.flink.streaming.runtime.tasks.RegularOperatorChain;
import org.apache.flink.streaming.runtime.tasks.StreamTask;

/** The operators and outputs of the task: what they receive is an effect. No constructor of it ever runs. */
final class Chain extends RegularOperatorChain<Object, StreamOperator<Object>> {
    private Effects effects;
    /** Whether the next synchronous part throws. */
    private boolean breaks;
    /** The asynchronous part of the last snapshot. */
    private FakeStateSnapshot written;

    private Chain(StreamTask<Object, StreamOperator<Object>> task, RecordWriterDelegate<?> never) {
        super(task, null);
    }

    static Chain of(Effects effects) {
        Chain chain = Bare.of(Chain.class);
        chain.effects = effects;
        Reflect.set(chain, "streamOutputs", new RecordWriterOutput<?>[0]);
        return chain;
    }

    /** An event for every output, as the wire calls it. */
    static void broadcast(Effects effects, AbstractEvent event) {
        if (event instanceof CheckpointBarrier) {
            effects.add("broadcast_barrier", "checkpoint", ((CheckpointBarrier) event).getId());
        } else {
            effects.add("broadcast_cancel", "checkpoint", ((CancelCheckpointMarker) event).getCheckpointId());
        }
    }

    void breaksNext(boolean fails) {
        breaks = fails;
    }

    FakeStateSnapshot taken() {
        FakeStateSnapshot last = written;
        written = null;
        return last;
    }

    @Override
    public void broadcastEvent(AbstractEvent event) {
        broadcast(effects, event);
    }

    @Override
    public void broadcastEvent(AbstractEvent event, boolean first) {
        broadcast(effects, event);
    }

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
        if (breaks) {
            throw new Exception(Subtasking.BROKEN);
        }
        effects.add("snapshot", "checkpoint", data.getCheckpointId());
        written = new FakeStateSnapshot(data.getCheckpointId(), effects);
        OperatorSnapshotFutures parts = new OperatorSnapshotFutures();
        parts.setKeyedStateManagedFuture(written);
        futures.put(new OperatorID(), parts);
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
        effects.add("notify_complete", "checkpoint", checkpoint);
    }

    @Override
    public void notifyCheckpointAborted(long checkpoint) {
        effects.add("notify_abort", "checkpoint", checkpoint);
    }
//# from 1.15

    @Override
    public void notifyCheckpointSubsumed(long checkpoint) {
        effects.add("notify_subsumed", "checkpoint", checkpoint);
    }
//# end
}
