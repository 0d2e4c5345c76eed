package barrierspec.flink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.core.memory.MemorySegmentProvider;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.io.network.ConnectionID;
import org.apache.flink.runtime.io.network.PartitionRequestClient;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;
import org.apache.flink.runtime.io.network.buffer.BufferDecompressor;
import org.apache.flink.runtime.io.network.metrics.InputChannelMetrics;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.OpenChannel;
import org.apache.flink.runtime.io.network.partition.consumer.RecoveredInputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.RemoteInputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.RemoteRecoveredInputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;

/**
 * Flink's own input channel: the recovered one while restored records are unread, then the remote one.
 *
 * <p>Its gate is Flink's too, but no task polls it. The gate has two channels. This one has index 1, so that each
 * parameter of a constructor that is a number, such as an index or a count, can take the value 1.
 */
final class ReceiverEnd {
    private final RecoveredInputChannel recovered;
    private RemoteInputChannel remote;

    ReceiverEnd(List<?> restored, ChannelStateWriter writer) throws Exception {
        recovered = Reflect.make(
                RemoteRecoveredInputChannel.class,
                gate(),
                1,
                new ResultPartitionID(),
                Unmade.of(ConnectionID.class),
                new InputChannelMetrics(new UnregisteredMetricsGroup()),
                range("org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet"));
        recovered.setChannelStateWriter(writer);
        for (Object value : restored) {
            try (BufferConsumer consumer = Items.record(value)) {
                recovered.onRecoveredStateBuffer(consumer.build());
            }
        }
        recovered.finishReadRecoveredState();
        convert();
    }

    private static final String TIERED = "org.apache.flink.runtime.io.network.partition.hybrid.tiered.";

    static SingleInputGate gate() {
        return Reflect.make(
                SingleInputGate.class,
                "the task",
                2,
                new IntermediateDataSetID(),
                ResultPartitionType.PIPELINED_BOUNDED,
                Unmade.of(BufferDecompressor.class),
                range("org.apache.flink.runtime.deployment.SubpartitionIndexRange"),
                range("org.apache.flink.runtime.executiongraph.IndexRange"),
                consumer(),
                Unmade.named(TIERED + "netty.TieredStorageNettyServiceImpl"),
                Unmade.named("org.apache.flink.runtime.throughput.ThroughputCalculator"),
                Unmade.named("org.apache.flink.runtime.throughput.BufferDebloater"),
                Fakes.of(MemorySegmentProvider.class, (proxy, method, arguments) ->
                        method.getReturnType() == Collection.class
                                ? Collections.singletonList(MemorySegmentFactory.allocateUnpooledSegment(1))
                                : null));
    }

    /** The client of tiered storage; null in 1.18, where the gate's constructor would start to use a client. */
    private static Object consumer() {
        String type = TIERED + "storage.TieredStorageConsumerClient";
//# from 1.18 before 1.19
        return new Reflect.None(type);
//# end
//# before 1.18
        return Unmade.named(type);
//# end
//# from 1.19
        return Unmade.named(type);
//# end
    }

    /** An object of this class: a range that contains one index. Null if the release does not have the class. */
    static Object range(String type) {
        try {
            return Reflect.make(Class.forName(type), 1);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    /** Once all restored records are read, reads their end marker, and replaces the channel with the remote one. */
    private void convert() throws Exception {
        if (remote == null && recovering() == 0) {
            OpenChannel.next(recovered);
            remote = (RemoteInputChannel) recovered.toInputChannel();
            Reflect.set(remote, "partitionRequestClient", Fakes.silent(PartitionRequestClient.class));
        }
    }

    private InputChannel flink() {
        return remote == null ? recovered : remote;
    }

    /** The number of restored records that are unread. */
    int recovering() {
        return remote == null ? received().size() - 1 : 0;
    }

    /** Takes an item from the network. The backlog is 0 if the item blocks the sender, otherwise -1. */
    void arrive(BufferAndBacklog item) throws IOException {
        int backlog = item.buffer().getDataType().isBlockingUpstream() ? 0 : -1;
//# before 1.19
        remote.onBuffer(item.buffer(), item.getSequenceNumber(), backlog);
//# end
//# from 1.19
        remote.onBuffer(item.buffer(), item.getSequenceNumber(), backlog, 1);
//# end
    }

    /** Reads the next buffer, as the gate does; null if none is there. */
    Buffer read() throws Exception {
        Buffer next = OpenChannel.next(flink());
        convert();
        return next;
    }

    void start(long checkpoint) throws CheckpointException {
        flink().checkpointStarted(Items.barrier(checkpoint, "unaligned"));
    }

    void stop(long checkpoint) {
        flink().checkpointStopped(checkpoint);
    }

    /** Gives priority to the waiting barrier of this checkpoint, as the gate does with an announced barrier. */
    void prioritise(long checkpoint) throws IOException {
        for (Object sequenced : received()) {
            Buffer buffer = buffer(sequenced);
            if (buffer.isBuffer() || buffer.getDataType().hasPriority()) {
                continue;
            }
            Object event = Items.event(buffer);
            if (event instanceof CheckpointBarrier
                    && ((CheckpointBarrier) event).getId() == checkpoint
                    && ((CheckpointBarrier) event).getCheckpointOptions().isTimeoutable()) {
                convertToPriority((Integer) Fields.get(sequenced, "sequenceNumber"));
                return;
            }
        }
        throw new Refused("checkpoint: no barrier of " + checkpoint + " with a time-out waits at the receiver");
    }

    private void convertToPriority(int sequence) throws IOException {
//# before 1.13
        throw new Refused("kind: prioritise came with 1.13");
//# end
//# from 1.13
        remote.convertToPriorityEvent(sequence);
//# end
    }

    /** The checkpoint whose barrier the channel awaits; null if it awaits none. */
    Long persisting() {
        if (remote == null) {
            return null;
        }
        Object persister = Fields.get(remote, "channelStatePersister");
        boolean awaits = Fields.get(persister, "checkpointStatus").toString().equals("BARRIER_PENDING");
        return awaits ? (Long) Fields.get(persister, "lastSeenBarrier") : null;
    }

    /** The unread buffers, in the order in which they would be read. */
    List<Buffer> waiting() {
        List<Buffer> waiting = new ArrayList<>();
        for (Object one : received()) {
            waiting.add(buffer(one));
        }
        return remote == null ? waiting.subList(0, waiting.size() - 1) : waiting;
    }

    private List<Object> received() {
        List<Object> received = new ArrayList<>();
        ((Iterable<?>) Fields.get(flink(), "receivedBuffers")).forEach(received::add);
        return received;
    }

    private Buffer buffer(Object received) {
        return remote == null ? (Buffer) received : (Buffer) Fields.get(received, "buffer");
    }
}
