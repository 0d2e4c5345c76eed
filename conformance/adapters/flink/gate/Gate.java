package barrierspec.flink;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;

/** One instance of component `gate`, at level `handler`; its subclass `PolledGate` has level `polled`. */
class Gate implements Component {
    private final Config config;
    private final Effects effects;
    private final Time time;
    private final Barriers barriers;
    private final boolean[] ended;
    private boolean failed;

    final Channels channels;
    final Handler handler;

    Gate(Config config, Effects effects) throws Exception {
        this.config = config;
        this.effects = effects;
        this.time = new Time();
        this.barriers = new Barriers(config, time);
        this.ended = new boolean[config.channels];
        this.channels = new Channels(effects, config);
        this.handler = new Handler(config, effects, channels, time);
    }

    /** A new gate. Throws IllegalStateException if a class of the release does not have the expected members. */
    static Gate make(Config config, Release release) {
        try {
            Effects effects = new Effects();
            return config.polled ? new PolledGate(config, effects) : new Gate(config, effects);
        } catch (Exception error) {
            throw new IllegalStateException("cannot make a gate of " + release.version, error);
        }
    }

    /** Takes one event and returns its effects. If it throws Refused or Unsupported, the gate has not changed. */
    @Override
    public final List<Map<String, Object>> take(Map<String, Object> event) {
        if (failed) {
            throw new Refused("the gate has failed and is not used again; send `new`");
        }
        Object kind = event.get("kind");
        int channel = channel(event, kind);
        effects.take();
        try {
            apply((String) kind, channel, event);
        } catch (Refused | Unsupported refused) {
            throw refused;
        } catch (Throwable thrown) {
            effects.fail(thrown);
            failed = true;
            System.err.println(event + ": " + thrown);
        }
        return effects.take();
    }

    /** The state after the last event; empty if the gate has failed. */
    @Override
    public final Map<String, Object> state() {
        return failed ? Collections.emptyMap() : View.of(config, handler, taken());
    }

    /** For each channel, whether the handler has received its end. */
    boolean[] taken() {
        return ended;
    }

    private int channel(Map<String, Object> event, Object kind) {
        if (kind == null || !(kind instanceof String)) {
            throw new Refused("kind: expected the name of an event, got " + kind);
        }
        switch ((String) kind) {
            case "advance":
            case "inject":
            case "mail":
                return -1;
            case "record":
            case "barrier":
            case "announce":
            case "receive_barrier":
            case "cancel":
            case "end_of_partition":
                break;
            default:
                throw new Refused("kind: expected an event of a gate, got " + kind);
        }
        long channel = Config.number(event, "channel", -1);
        if (channel < 0 || channel >= config.channels) {
            throw new Refused("channel: expected one of " + config.channels + " from 0, got " + channel);
        }
        if (ended[(int) channel]) {
            throw new Refused("channel " + channel + " has ended; send nothing on it any more: " + event);
        }
        return (int) channel;
    }

    private void apply(String kind, int channel, Map<String, Object> event) throws Exception {
        switch (kind) {
            case "record":
                record(channel, event.get("value"));
                break;
            case "barrier":
                checkpoint(event);
                deliver(barriers.of(event), channel);
                break;
            case "announce":
                checkpoint(event);
                announce(barriers.of(event), channel);
                break;
            case "receive_barrier":
                checkpoint(event);
                handler.receive(barriers.of(event), channel);
                break;
            case "mail":
                handler.mail();
                break;
            case "inject":
                checkpoint(event);
                for (int open = 0; open < config.channels; open++) {
                    if (!taken()[open]) {
                        handler.inject(barriers.of(event), open);
                    }
                }
                settle();
                break;
            case "cancel":
                deliver(new CancelCheckpointMarker(checkpoint(event)), channel);
                break;
            case "end_of_partition":
                ended[channel] = true;
                deliverEnd(channel);
                break;
            default:
                long ms = Config.number(event, "ms", -1);
                if (ms < 0) {
                    throw new Refused("ms: expected an int from 0 on, got " + event.get("ms"));
                }
                time.advance(ms);
                settle();
        }
    }

    private static long checkpoint(Map<String, Object> event) {
        long checkpoint = Config.number(event, "checkpoint", -1);
        if (checkpoint < 0) {
            throw new Refused("checkpoint: expected an int from 0 on, got " + event.get("checkpoint"));
        }
        return checkpoint;
    }

    void record(int channel, Object value) throws Exception {
        throw new Refused("a gate at handler level takes no records; use level `polled`");
    }

    void deliver(CheckpointBarrier barrier, int channel) throws Exception {
        handler.barrier(barrier, channel);
    }

    void deliver(CancelCheckpointMarker marker, int channel) throws Exception {
        handler.cancel(marker, channel);
    }

    void announce(CheckpointBarrier barrier, int channel) throws Exception {
        handler.announce(barrier, channel);
    }

    void settle() throws Exception {}

    void deliverEnd(int channel) throws Exception {
        handler.end(channel);
    }

    final void processed(int channel, Object value, boolean persisted) {
        effects.process(channel, value, persisted);
    }
}
