package org.apache.flink.runtime.io.network.partition;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumerWithPartialRecordLength;

/** Uses the methods and fields of a subpartition that are visible only in this package. */
public final class OpenSubpartition {
    private OpenSubpartition() {}

    /** Takes the next item from the subpartition; null if none may leave. */
    public static ResultSubpartition.BufferAndBacklog poll(PipelinedSubpartition sender) {
        return sender.pollBuffer();
    }

    public static void resume(PipelinedSubpartition sender) {
        sender.resumeConsumption();
    }

    public static boolean isBlocked(PipelinedSubpartition sender) {
        return sender.isBlocked;
    }

    /** Copies of the waiting buffers, in the order in which they would leave. */
    public static List<Buffer> waiting(PipelinedSubpartition sender) {
        List<Buffer> waiting = new ArrayList<>();
        for (BufferConsumerWithPartialRecordLength one : sender.buffers) {
            try (BufferConsumer copy = one.getBufferConsumer().copy()) {
                waiting.add(copy.build());
            }
        }
        return waiting;
    }
}
