package barrierspec.flink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent;
//# from 1.11
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
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

/**
 * The channels of a task and the input gates that read them. This class stands for the network.
 *
 * <p>Channels are numbered across all gates. Items wait in the order of arrival. From 1.11 on the network holds
 * back the items of a blocked channel; up to 1.10 the gate takes all items, and Flink stores those of a blocked one.
 */
final class Channels {
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

    /** The task's input gates. Each but the first reads one channel. */
    final PlayedGate[] gates;
//# from 1.11

    /**
     * The channels by their number across all gates. Flink resumes channels in the order of a hash set. In one gate
     * this is the order of the channels. For several gates this class numbers the channels in the order of the set.
     */
    private List<InputChannelInfo> infos = new ArrayList<>();
//# end

    private final Effects effects;
    private final List<Waiting> waiting = new ArrayList<>();
    private final boolean[] blocked;
    private final boolean[] taken;
    private Held held;
    private boolean persisted;
//# from 1.11 before 1.12
    private Persists persists = (buffer, channel) -> false;
//# end
//# from 1.12 before 1.13
    private boolean overtakes;
//# end
//# from 1.12
    private final List<WatchedPersister> persisters = new ArrayList<>();
//# end

    Channels(Effects effects, Config config) {
        this.effects = effects;
        this.gates = new PlayedGate[config.gates];
        this.blocked = new boolean[config.channels];
        this.taken = new boolean[config.channels];
        this.held = channel -> blocked[channel];
        for (int gate = 0; gate < config.gates; gate++) {
            gates[gate] = new PlayedGate(this, gate, gate == 0 ? config.channels - config.gates + 1 : 1);
        }
//# from 1.11
        for (PlayedGate gate : gates) {
            infos.addAll(gate.getChannelInfos());
        }
        if (config.gates > 1) {
            infos = new ArrayList<>(new HashSet<>(infos));
        }
//# end
//# from 1.12
        for (int channel = 0; channel < config.channels; channel++) {
            persisters.add(new WatchedPersister(info(channel)));
        }
//# end
    }

    /** Sets which channels are blocked, for a release that does not call `block`. */
    void hold(Held instead) {
        held = instead;
    }

    /** An item arrives in the network. */
    void arrive(int channel, BufferOrEvent item, boolean ends) {
        waiting.add(new Waiting(channel, item, ends));
    }

    /** Whether the gate has received the end of each of its channels. */
    boolean isFinished(PlayedGate gate) {
        for (int channel = 0; channel < taken.length; channel++) {
            if (gate.reads(channel) && !taken[channel]) {
                return false;
            }
        }
        return true;
    }

    /** Whether the last delivered record became part of a snapshot. */
    boolean isPersisted() {
        return persisted;
    }

    /** The oldest item that the network may deliver; empty if it belongs to a channel of another gate. */
    Optional<BufferOrEvent> next(PlayedGate gate) throws IOException {
        for (Iterator<Waiting> items = waiting.iterator(); items.hasNext(); ) {
            Waiting next = items.next();
            if (held.isHeld(next.channel)) {
                continue;
            }
            if (!gate.reads(next.channel)) {
                return Optional.empty();
            }
            items.remove();
            taken[next.channel] |= next.ends;
            read(next);
            return Optional.of(next.item);
        }
        return Optional.empty();
    }
//# before 1.12

    void resume(int channel) {
        effects.resume(channel);
    }
//# end
//# from 1.12

    void block(int channel) {
        blocked[channel] = true;
        effects.block(channel);
    }

    void resume(int channel) {
        blocked[channel] = false;
        effects.resume(channel);
    }

    void prioritise(int channel) {
        effects.prioritise(channel);
    }
//# end
//# from 1.11

    InputChannelInfo info(int channel) {
        return infos.get(channel);
    }

    /** The number of a channel across all gates. */
    int number(InputChannelInfo channel) {
        return infos.indexOf(channel);
    }
//# end
//# before 1.11

    /** Before 1.11 there is no snapshot of channels. */
    private void read(Waiting next) {}
//# end
//# from 1.11 before 1.12

    /** Decides whether a delivered buffer is stored: the listener that Flink registers with its network. */
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

    /** True: every barrier overtakes, also one whose options are aligned. */
    void overtake(boolean everyBarrier) {
        overtakes = everyBarrier;
    }

    /** Whether the barrier overtakes. In 1.12 the persister of a channel ignores all other barriers. */
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

    /** Passes the item to the persister of its channel. */
    private void read(Waiting next) throws IOException {
        WatchedPersister persister = persisters.get(next.channel);
        if (next.item.isBuffer()) {
            persisted = persister.read(next.item.getBuffer());
        } else if (next.item.getEvent() instanceof CheckpointBarrier) {
            CheckpointBarrier barrier = (CheckpointBarrier) next.item.getEvent();
            persister.read(EventSerializer.toBuffer(barrier, hasPriority(barrier)));
        }
    }

    /** Begins a snapshot of the gate's channels. The handler calls each gate in turn; all calls are one effect. */
    void start(long checkpoint, PlayedGate gate) throws CheckpointException {
        if (gate == gates[0]) {
            effects.startPersisting(checkpoint);
        }
        for (int channel = 0; channel < persisters.size(); channel++) {
            if (gate.reads(channel)) {
                persisters.get(channel).start(checkpoint);
            }
        }
    }

    void stop(long checkpoint, PlayedGate gate) {
        if (gate == gates[0]) {
            effects.stopPersisting(checkpoint);
        }
        for (int channel = 0; channel < persisters.size(); channel++) {
            if (gate.reads(channel)) {
                persisters.get(channel).stop(checkpoint);
            }
        }
    }
//# end
}
