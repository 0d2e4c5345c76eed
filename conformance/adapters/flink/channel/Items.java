package barrierspec.flink;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointOptions.AlignmentType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.EventAnnouncement;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;
import org.apache.flink.runtime.io.network.buffer.FreeingBufferRecycler;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
//# from 1.13
import org.apache.flink.runtime.io.network.buffer.NetworkBuffer;
//# end

/** The items that travel through a channel: a record is the bytes of its JSON, a barrier is an object of Flink. */
final class Items {
    private static final long TIMEOUT = 10;

    private Items() {}

    /** A record in the form in which the writer of the sending task passes it on: a finished buffer. */
    static BufferConsumer record(Object value) {
        byte[] bytes = Json.write(value);
        MemorySegment segment = MemorySegmentFactory.wrap(bytes);
//# before 1.13
        return new BufferConsumer(
                segment, FreeingBufferRecycler.INSTANCE, bytes.length, Buffer.DataType.DATA_BUFFER);
//# end
//# from 1.13
        NetworkBuffer buffer =
                new NetworkBuffer(segment, FreeingBufferRecycler.INSTANCE, Buffer.DataType.DATA_BUFFER);
        return new BufferConsumer(buffer, bytes.length);
//# end
    }

    static CheckpointBarrier barrier(long checkpoint, String alignment) {
        boolean times = alignment.equals("timeout");
        CheckpointOptions options = new CheckpointOptions(
                CheckpointType.CHECKPOINT,
                CheckpointStorageLocationReference.getDefault(),
                type(alignment),
                times ? TIMEOUT : Long.MAX_VALUE);
        return new CheckpointBarrier(checkpoint, 0, options);
    }

    private static AlignmentType type(String alignment) {
        switch (alignment) {
            case "aligned":
            case "timeout":
                return AlignmentType.ALIGNED;
            case "unaligned":
                return AlignmentType.UNALIGNED;
            case "forced-aligned":
                return AlignmentType.FORCED_ALIGNED;
            default:
                throw new Refused(
                        "alignment: expected aligned, unaligned, forced-aligned or timeout, got " + alignment);
        }
    }

    static BufferConsumer sent(CheckpointBarrier barrier) throws IOException {
        return EventSerializer.toBufferConsumer(barrier, barrier.getCheckpointOptions().isUnalignedCheckpoint());
    }

    /** The event in a buffer. The buffer does not change. */
    static AbstractEvent event(Buffer buffer) throws IOException {
        return EventSerializer.fromBuffer(buffer.readOnlySlice(), Items.class.getClassLoader());
    }

    static Object value(Buffer buffer) {
        ByteBuffer readable = buffer.getNioBufferReadable().duplicate();
        byte[] bytes = new byte[readable.remaining()];
        readable.get(bytes);
        return Json.read(bytes);
    }

    static List<Object> values(Iterable<Buffer> buffers) {
        List<Object> values = new ArrayList<>();
        for (Buffer buffer : buffers) {
            values.add(value(buffer));
        }
        return values;
    }

    /** The item in the form that the observable state has: its kind, then its fields. */
    static List<Object> shown(Buffer buffer) throws IOException {
        if (buffer.isBuffer()) {
            return Arrays.asList("record", value(buffer));
        }
        AbstractEvent event = event(buffer);
        if (event instanceof EventAnnouncement) {
            CheckpointBarrier announced = (CheckpointBarrier) ((EventAnnouncement) event).getAnnouncedEvent();
            return Arrays.asList("announce", announced.getId());
        }
        if (event instanceof CheckpointBarrier) {
            CheckpointBarrier barrier = (CheckpointBarrier) event;
            return Arrays.asList("barrier", barrier.getId(), alignment(barrier, buffer));
        }
        throw new IllegalStateException("expected a record or a barrier in the channel, found " + event);
    }

    /** The alignment of a barrier. With priority it is unaligned: the options of an announced barrier do not change. */
    private static String alignment(CheckpointBarrier barrier, Buffer buffer) {
        CheckpointOptions options = barrier.getCheckpointOptions();
        if (buffer.getDataType().hasPriority()) {
            return "unaligned";
        }
        if (options.isTimeoutable()) {
            return "timeout";
        }
        return options.getAlignment() == AlignmentType.FORCED_ALIGNED ? "forced-aligned" : "aligned";
    }
}
