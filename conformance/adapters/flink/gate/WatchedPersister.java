//# from 1.12
package org.apache.flink.runtime.io.network.partition.consumer;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Collections;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.io.network.buffer.Buffer;

/**
 * Flink's own persister of a channel, with a writer that records its calls. The persister decides whether a buffer
 * that is read becomes part of the snapshot. This class is in Flink's package because the
 * persister's methods are visible only here.
 */
public final class WatchedPersister {
    private final ChannelStatePersister persister;
    private boolean written;

    public WatchedPersister(InputChannelInfo channel) {
        ChannelStateWriter writer =
                (ChannelStateWriter) Proxy.newProxyInstance(
                        ChannelStateWriter.class.getClassLoader(),
                        new Class<?>[] {ChannelStateWriter.class},
                        (proxy, method, arguments) -> {
                            written |= method.getName().equals("addInputData");
                            return null;
                        });
        persister = new ChannelStatePersister(writer, channel);
    }

    public void start(long checkpoint) throws CheckpointException {
        persister.startPersisting(checkpoint, Collections.emptyList());
    }

    public void stop(long checkpoint) {
        persister.stopPersisting(checkpoint);
    }

    /** Passes on a buffer, as a local channel does. Returns true if the persister wrote it to the snapshot. */
    public boolean read(Buffer buffer) throws IOException {
        written = false;
        persister.checkForBarrier(buffer);
        persister.maybePersist(buffer);
        return written;
    }
}
//# end
