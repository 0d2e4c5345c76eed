package org.apache.flink.runtime.io.network.partition.consumer;

import org.apache.flink.runtime.io.network.buffer.Buffer;

/** Calls a method of an input channel that is visible only in this package. */
public final class OpenChannel {
    private OpenChannel() {}

    /** Reads the next buffer; null if none is there. */
    public static Buffer next(InputChannel channel) throws Exception {
        return channel.getNextBuffer().map(InputChannel.BufferAndAvailability::buffer).orElse(null);
    }
}
