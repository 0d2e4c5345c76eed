package barrierspec.flink;

//# from 2.3
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.consumer.LocalInputChannel;
import org.apache.flink.util.CloseableIterator;

/**
 * FLINK-40016: a local channel with two restored records. A checkpoint starts between the two.
 *
 * <p>Prints which records the channel stores for the checkpoint, and which ones its gate reads.
 */
public final class TwicePersisted {
    private TwicePersisted() {}

    public static void main(String[] none) throws Exception {
        List<Object> stored = new ArrayList<>();
        ChannelStateWriter writer = Fakes.of(ChannelStateWriter.class, (proxy, method, arguments) -> {
            if (method.getName().equals("addInputData")) {
                try (CloseableIterator<?> buffers = (CloseableIterator<?>) arguments[3]) {
                    while (buffers.hasNext()) {
                        stored.add(Items.value((Buffer) buffers.next()));
                    }
                }
            }
            return Fakes.nothing(method.getReturnType());
        });
        ArrayDeque<Buffer> restored = new ArrayDeque<>();
        for (long value : new long[] {1, 2}) {
            try (BufferConsumer consumer = Items.record(value)) {
                restored.add(consumer.build());
            }
        }
        LocalInputChannel channel = Reflect.make(
                LocalInputChannel.class,
                ReceiverEnd.gate(),
                1,
                new ResultPartitionID(),
                ReceiverEnd.range("org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet"),
                new ResultPartitionManager(),
                writer,
                restored);
        channel.checkpointStarted(Items.barrier(1, "unaligned"));
        System.out.println("stored at the start of checkpoint 1: " + stored);
        List<Object> read = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            read.add(Items.value(channel.getNextBuffer().get().buffer()));
        }
        System.out.println("read by the gate: " + read);
        System.out.println("stored for checkpoint 1: " + stored);
    }
}
//# end
