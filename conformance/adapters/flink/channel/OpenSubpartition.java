package org.apache.flink.runtime.io.network.partition;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumerWithPartialRecordLength;

/** What of a subpartition is visible only in its package. */
public final class OpenSubpartition {
    private OpenSubpartition() {}

    /** What leaves next, or null. */
    public static ResultSubpartition.BufferAndBacklog poll(PipelinedSubpartition sender) {
        return sender.pollBuffer();
    }

    public static void resume(PipelinedSubpartition sender) {
        sender.resumeConsumption();
    }

    public static boolean isBlocked(PipelinedSubpartition sender) {
        return sender.isBlocked;
    }

    /** Copies of all that waits, in the order in which it would leave. */
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
