package barrierspec.flink;

import java.lang.reflect.Proxy;
import java.util.Optional;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent;
//# before 1.11
import org.apache.flink.streaming.runtime.io.BufferStorage;
import org.apache.flink.streaming.runtime.io.CachedBufferStorage;
import org.apache.flink.streaming.runtime.io.EmptyBufferStorage;
//# end
//# before 1.13
import org.apache.flink.streaming.runtime.io.CheckpointedInputGate;
//# end
//# from 1.12
import java.lang.reflect.Constructor;
import org.apache.flink.runtime.io.network.api.EventAnnouncement;
//# end
//# from 1.13
import org.apache.flink.streaming.runtime.io.checkpointing.CheckpointedInputGate;
//# end

/** Level `polled`: the harness polls Flink's whole input gate until it returns no item. */
final class PolledGate extends Gate {
    /** Bytes that Flink's buffer storage counts for each item: the default segment size. */
    static final int PAGE = 32 * 1024;

    private final CheckpointedInputGate[] flink;
    private final boolean[] taken;

    /** A fake network buffer that carries a record of the adapter protocol. */
    interface Carrying {
        Object carried();
    }

    PolledGate(Config config, Effects effects) throws Exception {
        super(config, effects);
        taken = new boolean[config.channels];
//# before 1.11
        boolean stores = config.mode.equals(Config.EXACTLY_ONCE);
        BufferStorage storage =
                stores ? new CachedBufferStorage(PAGE, config.limit, "task") : new EmptyBufferStorage();
        flink = new CheckpointedInputGate[] {new CheckpointedInputGate(channels.gates[0], storage, handler.flink)};
//# end
//# from 1.11 before 1.12
        flink = new CheckpointedInputGate[] {new CheckpointedInputGate(channels.gates[0], handler.flink)};
//# end
//# from 1.12
        flink = new CheckpointedInputGate[config.gates];
        for (int gate = 0; gate < config.gates; gate++) {
            flink[gate] = gate(channels.gates[gate]);
        }
//# end
    }
//# from 1.12

    /** Passes a fake executor of the mailbox, whose type moved between releases; it never executes anything. */
    private CheckpointedInputGate gate(PlayedGate played) throws Exception {
        for (Constructor<?> constructor : CheckpointedInputGate.class.getConstructors()) {
            if (constructor.getParameterCount() == 3) {
                Object executor = Fakes.silent(constructor.getParameterTypes()[2]);
                return (CheckpointedInputGate) constructor.newInstance(played, handler.flink, executor);
            }
        }
        throw new IllegalStateException("CheckpointedInputGate has no constructor of 3 arguments");
    }
//# end

    @Override
    boolean[] taken() {
        return taken;
    }

    @Override
    void record(int channel, Object value) throws Exception {
        channels.arrive(channel, item(buffer(value), channel), false);
        poll();
    }

    @Override
    void deliver(CheckpointBarrier barrier, int channel) throws Exception {
        arrive(barrier, channel, false);
    }

    @Override
    void deliver(CancelCheckpointMarker marker, int channel) throws Exception {
        arrive(marker, channel, false);
    }

//# from 1.12

    @Override
    void announce(CheckpointBarrier barrier, int channel) throws Exception {
        arrive(new EventAnnouncement(barrier, 0), channel, false);
    }
//# end

    /** Polls after an injection and after `advance`: items that these events unblock belong to the same event. */
    @Override
    void settle() throws Exception {
        poll();
    }

    @Override
    void deliverEnd(int channel) throws Exception {
        arrive(EndOfPartitionEvent.INSTANCE, channel, true);
    }

    private void arrive(AbstractEvent event, int channel, boolean ends) throws Exception {
        channels.arrive(channel, item(event, channel), ends);
        poll();
    }

    /** Polls all gates until none returns an item. The next item of the network decides which gate returns it. */
    private void poll() throws Exception {
        int empty = 0;
        for (int gate = 0; empty < flink.length; gate = (gate + 1) % flink.length) {
            Optional<BufferOrEvent> next = flink[gate].pollNext();
            empty = next.isPresent() ? 0 : empty + 1;
            while (next.isPresent()) {
                take(next.get());
                next = flink[gate].pollNext();
            }
        }
    }

    private void take(BufferOrEvent item) throws Exception {
        if (item.isBuffer()) {
            Object value = ((Carrying) item.getBuffer()).carried();
            processed(channel(item), value, channels.isPersisted());
        } else if (item.getEvent() == EndOfPartitionEvent.INSTANCE) {
            taken[channel(item)] = true;
        }
    }

    private static Buffer buffer(Object value) {
        return (Buffer) Proxy.newProxyInstance(
                Buffer.class.getClassLoader(),
                new Class<?>[] {Buffer.class, Carrying.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "carried":
                            return value;
                        case "isBuffer":
                            return true;
                        case "retainBuffer":
                            return proxy;
                        default:
                            return Fakes.nothing(method.getReturnType());
                    }
                });
    }
//# before 1.11

    private static BufferOrEvent item(Buffer buffer, int channel) {
        return new BufferOrEvent(buffer, channel);
    }

    private static BufferOrEvent item(AbstractEvent event, int channel) {
        return new BufferOrEvent(event, channel);
    }

    private static int channel(BufferOrEvent item) {
        return item.getChannelIndex();
    }
//# end
//# from 1.11

    private BufferOrEvent item(Buffer buffer, int channel) {
        return new BufferOrEvent(buffer, channels.info(channel));
    }

    private BufferOrEvent item(AbstractEvent event, int channel) {
        return new BufferOrEvent(event, channels.info(channel));
    }

    private int channel(BufferOrEvent item) {
        return channels.number(item.getChannelInfo());
    }
//# end
}
