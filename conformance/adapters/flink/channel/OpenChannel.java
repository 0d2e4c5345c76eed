package org.apache.flink.runtime.io.network.partition.consumer;

import org.apache.flink.runtime.io.network.buffer.Buffer;

/** What of an input channel is visible only in its package. */
public final class OpenChannel {
    private OpenChannel() {}

    /** What is read next, or null. */
    public static Buffer next(InputChannel channel) throws Exception {
        return channel.getNextBuffer().map(InputChannel.BufferAndAvailability::buffer).orElse(null);
    }
}
