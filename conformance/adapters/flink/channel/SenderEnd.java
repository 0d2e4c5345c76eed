package barrierspec.flink;

import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.OpenSubpartition;
import org.apache.flink.runtime.io.network.partition.PipelinedResultPartition;
import org.apache.flink.runtime.io.network.partition.PipelinedSubpartition;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
//# from 1.16
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
//# end

/** Flink's own subpartition. It begins with the restored records. */
final class SenderEnd {
    private final PipelinedSubpartition flink;

    SenderEnd(List<?> restored, ChannelStateWriter writer) {
        PipelinedResultPartition parent = Unmade.of(PipelinedResultPartition.class);
        flink = Reflect.make(PipelinedSubpartition.class, parent, 1);
        flink.setChannelStateWriter(writer);
        for (Object value : restored) {
            write(value);
        }
    }

    void write(Object value) {
        add(Items.record(value));
    }

    private void add(org.apache.flink.runtime.io.network.buffer.BufferConsumer item) {
        try {
            flink.add(item);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    void barrier(long checkpoint, String alignment) throws IOException {
        add(Items.sent(Items.barrier(checkpoint, alignment)));
    }

    void timeOut(long checkpoint) throws IOException {
//# from 1.16
        flink.alignedBarrierTimeout(checkpoint);
//# end
    }

    void abort(long checkpoint) {
//# from 1.16
        flink.abortCheckpoint(
                checkpoint, new CheckpointException(CheckpointFailureReason.CHECKPOINT_DECLINED));
//# end
    }

    /** Takes the next item from the subpartition; null if none may leave. */
    BufferAndBacklog leave() {
        return OpenSubpartition.poll(flink);
    }

    void resume() {
        OpenSubpartition.resume(flink);
    }

    boolean isBlocked() {
        return OpenSubpartition.isBlocked(flink);
    }

    /** The checkpoint for which the sender must still store its part of the channel state; null for none. */
    Long promised() {
        boolean owes = Fields.has(flink, "channelStateFuture") && Fields.get(flink, "channelStateFuture") != null;
        return owes ? (Long) Fields.get(flink, "channelStateCheckpointId") : null;
    }

    List<Buffer> waiting() {
        return OpenSubpartition.waiting(flink);
    }
}
