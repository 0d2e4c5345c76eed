package barrierspec.flink;

import java.io.IOException;
import java.util.ArrayList;
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
//# from 1.12
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
//# end
//# from 1.19
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
//# end

/** A fake input gate of a task. It reads some of the task's channels from `Channels`. */
//# before 1.11
final class PlayedGate extends InputGate {
//# end
//# from 1.11
final class PlayedGate extends IndexedInputGate {
//# end
    private final Channels channels;
    private final int index;
    private final int size;
//# from 1.11
    private final List<InputChannelInfo> infos = new ArrayList<>();
//# end

    PlayedGate(Channels channels, int index, int size) {
        this.channels = channels;
        this.index = index;
        this.size = size;
//# from 1.11
        for (int channel = 0; channel < size; channel++) {
            infos.add(new InputChannelInfo(index, channel));
        }
//# end
    }

//# before 1.11

    /** Whether this gate reads the channel. */
    boolean reads(int channel) {
        return true;
    }

    private int number(int channel) {
        return channel;
    }
//# end
//# from 1.11

    /** Whether this gate reads the channel with this number across all gates. */
    boolean reads(int channel) {
        return channels.info(channel).getGateIdx() == index;
    }

    private int number(int channel) {
        return channels.number(infos.get(channel));
    }
//# end

    @Override
    public int getNumberOfInputChannels() {
        return size;
    }

    /** Whether the gate has received the end of each of its channels. */
    @Override
    public boolean isFinished() {
        return channels.isFinished(this);
    }

    @Override
    public Optional<BufferOrEvent> pollNext() throws IOException {
        return channels.next(this);
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
        return index;
    }

    @Override
    public void requestPartitions() {}
//# end
//# from 1.11 before 1.12

    @Override
    public void resumeConsumption(int channel) {
        channels.resume(number(channel));
    }

    @Override
    public CompletableFuture<?> readRecoveredState(ExecutorService executor, ChannelStateReader reader) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void registerBufferReceivedListener(BufferReceivedListener listener) {}
//# end
//# from 1.12

    @Override
    public void blockConsumption(InputChannelInfo channel) {
        channels.block(channels.number(channel));
    }

    @Override
    public void resumeConsumption(InputChannelInfo channel) {
        channels.resume(channels.number(channel));
    }

    @Override
    public void checkpointStarted(CheckpointBarrier barrier) throws CheckpointException {
        channels.start(barrier.getId(), this);
    }

    @Override
    public void checkpointStopped(long checkpoint) {
        channels.stop(checkpoint, this);
    }

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
        channels.prioritise(number(channel));
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

    @Override
    public EndOfDataStatus hasReceivedEndOfData() {
        return EndOfDataStatus.NOT_END_OF_DATA;
    }
//# end
//# from 1.19

    /** A method of Flink's gate in 1.19 and from 2.0 on. In 1.20 it overrides nothing. */
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
