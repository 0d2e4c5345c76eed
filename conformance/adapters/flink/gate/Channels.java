package barrierspec.flink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.flink.runtime.event.TaskEvent;
import org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent;
//# before 1.11
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
//# end
//# from 1.11
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.io.network.partition.consumer.IndexedInputGate;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannel;
//# end
//# from 1.11 before 1.12
import java.util.concurrent.ExecutorService;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateReader;
import org.apache.flink.runtime.io.network.buffer.BufferReceivedListener;
//# end
//# from 1.11 before 1.12
import org.apache.flink.runtime.io.network.buffer.Buffer;
//# end
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.partition.consumer.WatchedPersister;
//# end
//# from 1.19
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
//# end

/**
 * The input gate: channels whose network is played here.
 *
 * <p>What arrives waits in the order of arrival. From 1.11 on the network holds back what stands on a
 * blocked channel; before, the gate takes everything and Flink stores it.
 */
//# before 1.11
final class Channels extends InputGate {
//# end
//# from 1.11
final class Channels extends IndexedInputGate {
//# end
    /** An item in the network. */
    private static final class Waiting {
        final int channel;
        final BufferOrEvent item;
        final boolean ends;

        Waiting(int channel, BufferOrEvent item, boolean ends) {
            this.channel = channel;
            this.item = item;
            this.ends = ends;
        }
    }

    /** Whether the network must not deliver a channel's items now. */
    interface Held {
        boolean isHeld(int channel);
    }

    private final Effects effects;
    private final int channels;
    private final List<Waiting> waiting = new ArrayList<>();
    private final boolean[] blocked;
    private final boolean[] taken;
    private Held held;
    private boolean persisted;
//# from 1.11
    private final List<InputChannelInfo> infos = new ArrayList<>();
//# end
//# from 1.11 before 1.12
    private Persists persists = (buffer, channel) -> false;
//# end
//# from 1.12 before 1.13
    private boolean overtakes;
//# end
//# from 1.12
    private final List<WatchedPersister> persisters = new ArrayList<>();
//# end

    Channels(Effects effects, int channels) {
        this.effects = effects;
        this.channels = channels;
        this.blocked = new boolean[channels];
        this.taken = new boolean[channels];
        this.held = channel -> blocked[channel];
//# from 1.11
        for (int channel = 0; channel < channels; channel++) {
            infos.add(new InputChannelInfo(0, channel));
        }
//# end
//# from 1.12
        for (InputChannelInfo info : infos) {
            persisters.add(new WatchedPersister(info));
        }
//# end
    }

    /** In place of the blocks that were called: where a release makes no such calls. */
    void hold(Held instead) {
        held = instead;
    }

    /** Blocked by a call, and not resumed. */
    boolean isBlocked(int channel) {
        return blocked[channel];
    }

    /** An item arrives in the network. */
    void arrive(int channel, BufferOrEvent item, boolean ends) {
        waiting.add(new Waiting(channel, item, ends));
    }

    @Override
    public int getNumberOfInputChannels() {
        return channels;
    }

    /** Every channel's end was handed out. */
    @Override
    public boolean isFinished() {
        for (boolean ended : taken) {
            if (!ended) {
                return false;
            }
        }
        return true;
    }

    /** Whether the record that was handed out last became part of a snapshot. */
    boolean isPersisted() {
        return persisted;
    }

    /** The oldest item that the network may deliver. */
    @Override
    public Optional<BufferOrEvent> pollNext() throws IOException {
        for (Iterator<Waiting> items = waiting.iterator(); items.hasNext(); ) {
            Waiting next = items.next();
            if (!held.isHeld(next.channel)) {
                items.remove();
                taken[next.channel] |= next.ends;
                read(next);
                return Optional.of(next.item);
            }
        }
        return Optional.empty();
    }

    @Override
    public Optional<BufferOrEvent> getNext() {
        throw new AssertionError("a gate polls");
    }

    @Override
    public void sendTaskEvent(TaskEvent event) {
        throw new AssertionError("a gate sends nothing upstream");
    }

    @Override
    public void setup() {}

    @Override
    public void close() {}
//# from 1.11

    InputChannelInfo info(int channel) {
        return infos.get(channel);
    }

    @Override
    public List<InputChannelInfo> getChannelInfos() {
        return infos;
    }

    @Override
    public InputChannel getChannel(int channel) {
        throw new AssertionError("channels are played, there is no object of channel " + channel);
    }

    @Override
    public int getGateIndex() {
        return 0;
    }

    @Override
    public void requestPartitions() {}
//# end
//# from 1.11 before 1.12

    @Override
    public void resumeConsumption(int channel) {
        effects.resume(channel);
    }

    @Override
    public CompletableFuture<?> readRecoveredState(ExecutorService executor, ChannelStateReader reader) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void registerBufferReceivedListener(BufferReceivedListener listener) {}
//# end
//# before 1.11

    /** Before 1.11 there is no snapshot of channels. */
    private void read(Waiting next) {}
//# end
//# from 1.11 before 1.12

    /** Who keeps what a channel hands on: the listener that Flink registers with its network. */
    interface Persists {
        boolean keeps(Buffer buffer, int channel) throws IOException;
    }

    void persist(Persists instead) {
        persists = instead;
    }

    private void read(Waiting next) throws IOException {
        persisted = next.item.isBuffer() && persists.keeps(next.item.getBuffer(), next.channel);
    }
//# end
//# from 1.12 before 1.13

    /** Every barrier overtakes, also one that does not ask for it. */
    void overtake(boolean everyBarrier) {
        overtakes = everyBarrier;
    }

    /** In 1.12 a channel's persister looks at barriers that overtake only. */
    private boolean hasPriority(CheckpointBarrier barrier) {
        return overtakes || barrier.getCheckpointOptions().isUnalignedCheckpoint();
    }
//# end
//# from 1.13

    private static boolean hasPriority(CheckpointBarrier barrier) {
        return false;
    }
//# end
//# from 1.12

    /** The channel's own persister sees what is read. */
    private void read(Waiting next) throws IOException {
        WatchedPersister persister = persisters.get(next.channel);
        if (next.item.isBuffer()) {
            persisted = persister.read(next.item.getBuffer());
        } else if (next.item.getEvent() instanceof CheckpointBarrier) {
            CheckpointBarrier barrier = (CheckpointBarrier) next.item.getEvent();
            persister.read(EventSerializer.toBuffer(barrier, hasPriority(barrier)));
        }
    }
//# end
//# from 1.12

    @Override
    public void blockConsumption(InputChannelInfo channel) {
        blocked[channel.getInputChannelIdx()] = true;
        effects.block(channel.getInputChannelIdx());
    }

    @Override
    public void resumeConsumption(InputChannelInfo channel) {
        blocked[channel.getInputChannelIdx()] = false;
        effects.resume(channel.getInputChannelIdx());
    }
//# end
//# from 1.12

    @Override
    public void checkpointStarted(CheckpointBarrier barrier) throws CheckpointException {
        effects.startPersisting(barrier.getId());
        for (WatchedPersister persister : persisters) {
            persister.start(barrier.getId());
        }
    }

    @Override
    public void checkpointStopped(long checkpoint) {
        effects.stopPersisting(checkpoint);
        for (WatchedPersister persister : persisters) {
            persister.stop(checkpoint);
        }
    }
//# end
//# from 1.12

    @Override
    public CompletableFuture<Void> getStateConsumedFuture() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void finishReadRecoveredState() {}
//# end
//# from 1.13

    @Override
    public void convertToPriorityEvent(int channel, int sequence) {
        effects.prioritise(channel);
    }
//# end
//# from 1.14

    @Override
    public List<InputChannelInfo> getUnfinishedChannels() {
        return infos;
    }

    @Override
    public void acknowledgeAllRecordsProcessed(InputChannelInfo channel) {}
//# end
//# from 1.14 before 1.15

    @Override
    public boolean hasReceivedEndOfData() {
        return false;
    }

    @Override
    public int getBuffersInUseCount() {
        return 0;
    }

    @Override
    public void announceBufferSize(int bytes) {}
//# end
//# from 1.15

    @Override
    public void triggerDebloating() {}
//# end
//# from 1.15

    @Override
    public EndOfDataStatus hasReceivedEndOfData() {
        return EndOfDataStatus.NOT_END_OF_DATA;
    }
//# end
//# from 1.19

    /** Part of a gate in 1.19 and from 2.0 on, and of nothing in 1.20. */
    public ResultPartitionType getConsumedPartitionType() {
        return ResultPartitionType.PIPELINED_BOUNDED;
    }
//# end
//# from 2.0

    @Override
    public void resumeGateConsumption() {}
//# end
//# from 2.3

    @Override
    public CompletableFuture<Void> getBufferFilteringCompleteFuture() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void setCheckpointingDuringRecoveryEnabled(boolean enabled) {}

    @Override
    public boolean isCheckpointingDuringRecoveryEnabled() {
        return false;
    }
//# end
}
