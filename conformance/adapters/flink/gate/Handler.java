package barrierspec.flink;

import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
//# before 1.13
import org.apache.flink.streaming.runtime.io.CheckpointBarrierHandler;
import org.apache.flink.streaming.runtime.io.CheckpointBarrierTracker;
//# end
//# before 1.12
import org.apache.flink.streaming.runtime.io.WatchedAligner;
//# end
//# from 1.11
import java.lang.reflect.Constructor;
import org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinator;
//# end
//# from 1.11 before 1.12
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
import org.apache.flink.streaming.runtime.io.CheckpointBarrierUnaligner;
//# end
//# from 1.12 before 1.13
import org.apache.flink.streaming.runtime.io.AlignedController;
import org.apache.flink.streaming.runtime.io.AlternatingController;
import org.apache.flink.streaming.runtime.io.CheckpointBarrierBehaviourController;
import org.apache.flink.streaming.runtime.io.SingleCheckpointBarrierHandler;
import org.apache.flink.streaming.runtime.io.UnalignedController;
//# end
//# from 1.13
import org.apache.flink.streaming.runtime.io.checkpointing.CheckpointBarrierHandler;
import org.apache.flink.streaming.runtime.io.checkpointing.CheckpointBarrierTracker;
import org.apache.flink.streaming.runtime.io.checkpointing.SingleCheckpointBarrierHandler;
//# end

/** Flink's barrier handler for one mode, and the calls for barriers, cancellation markers and ends. */
final class Handler {
    private static final String NAME = "task";

    /** Flink's own handler. */
    final CheckpointBarrierHandler flink;

    final Channels channels;
//# from 1.11 before 1.12

    private final Task task;
//# end

    Handler(Config config, Effects effects, Channels channels, Time time) throws Exception {
        this.channels = channels;
        Task task = new Task(effects);
//# from 1.11 before 1.12
        this.task = task;
//# end
//# before 1.13
        if (config.mode.equals(Config.AT_LEAST_ONCE)) {
            flink = new CheckpointBarrierTracker(config.channels, task);
            return;
        }
//# end
//# before 1.11
        flink = new WatchedAligner(config.channels, task, effects::block, effects::resume);
        channels.hold(channel -> false); // Flink stores the items of a blocked channel
//# end
//# from 1.11 before 1.12
        WatchedAligner aligner = new WatchedAligner(task, effects::block, channels.gates[0]);
        if (config.mode.equals(Config.EXACTLY_ONCE)) {
            flink = aligner;
        } else {
            boolean[] written = new boolean[1];
            SubtaskCheckpointCoordinator writes = coordinator(effects, written);
            CheckpointBarrierUnaligner unaligner =
                    make(CheckpointBarrierUnaligner.class, writes, NAME, task, channels.gates);
            channels.persist((buffer, channel) -> {
                written[0] = false;
                unaligner.getBufferReceivedListener().get().notifyBufferReceived(buffer, channels.info(channel));
                return written[0];
            });
            Class<?> alternating = Class.forName("org.apache.flink.streaming.runtime.io.AlternatingCheckpointBarrierHandler");
            flink = config.mode.equals(Config.UNALIGNED)
                    ? unaligner
                    : (CheckpointBarrierHandler) make(alternating, aligner, unaligner, task);
        }
        channels.hold(channel -> flink.isBlocked(channels.info(channel)));
//# end
//# from 1.12 before 1.13
        AlignedController aligned = new AlignedController(channels.gates);
        UnalignedController unaligned = new UnalignedController(coordinator(effects, new boolean[1]), channels.gates);
        channels.overtake(config.mode.equals(Config.UNALIGNED));
        CheckpointBarrierBehaviourController controller =
                config.mode.equals(Config.EXACTLY_ONCE)
                        ? aligned
                        : config.mode.equals(Config.UNALIGNED)
                                ? unaligned
                                : new AlternatingController(aligned, unaligned);
        flink = make(SingleCheckpointBarrierHandler.class, NAME, task, config.channels, controller);
//# end
//# from 1.13 before 1.14
        switch (config.mode) {
            case Config.AT_LEAST_ONCE:
                flink = new CheckpointBarrierTracker(config.channels, task, time.clock());
                break;
            case Config.UNALIGNED:
                flink = SingleCheckpointBarrierHandler.unaligned(
                        NAME, task, coordinator(effects, new boolean[1]), time.clock(), config.channels, time.timers(), channels.gates);
                break;
            case Config.ALTERNATING:
                flink = SingleCheckpointBarrierHandler.alternating(
                        NAME, task, coordinator(effects, new boolean[1]), time.clock(), config.channels, time.timers(), channels.gates);
                break;
            default:
                flink = SingleCheckpointBarrierHandler.aligned(
                        NAME, task, time.clock(), config.channels, time.timers(), channels.gates);
        }
//# end
//# from 1.14
        boolean afterFinish = config.afterFinish;
        switch (config.mode) {
            case Config.AT_LEAST_ONCE:
                flink = new CheckpointBarrierTracker(config.channels, task, time.clock(), afterFinish);
                break;
            case Config.UNALIGNED:
                flink = SingleCheckpointBarrierHandler.unaligned(
                        NAME, task, coordinator(effects, new boolean[1]), time.clock(), config.channels, time.timers(), afterFinish, channels.gates);
                break;
            case Config.ALTERNATING:
                flink = SingleCheckpointBarrierHandler.alternating(
                        NAME, task, coordinator(effects, new boolean[1]), time.clock(), config.channels, time.timers(), afterFinish, channels.gates);
                break;
            default:
                flink = SingleCheckpointBarrierHandler.aligned(
                        NAME, task, time.clock(), config.channels, time.timers(), afterFinish, channels.gates);
        }
//# end
    }

//# before 1.11
    void barrier(CheckpointBarrier barrier, int channel) throws Exception {
        flink.processBarrier(barrier, channel, 0);
    }

    boolean isBlocked(int channel) {
        return flink.isBlocked(channel);
    }
//# end
//# from 1.11 before 1.12
    void barrier(CheckpointBarrier barrier, int channel) throws Exception {
        flink.processBarrier(barrier, channels.info(channel));
    }

    boolean isBlocked(int channel) {
        return flink.isBlocked(channels.info(channel));
    }
//# end
//# from 1.12 before 1.14
    void barrier(CheckpointBarrier barrier, int channel) throws Exception {
        flink.processBarrier(barrier, channels.info(channel));
    }
//# end
//# before 1.14

    void cancel(CancelCheckpointMarker marker, int channel) throws Exception {
        flink.processCancellationBarrier(marker);
    }

    void end(int channel) throws Exception {
        flink.processEndOfPartition();
    }

    void inject(CheckpointBarrier barrier, int channel) {
        throw new Unsupported("inject; barriers are injected from 1.14 on");
    }
//# end
//# from 1.14
    void barrier(CheckpointBarrier barrier, int channel) throws Exception {
        flink.processBarrier(barrier, channels.info(channel), false);
    }

    void cancel(CancelCheckpointMarker marker, int channel) throws Exception {
        flink.processCancellationBarrier(marker, channels.info(channel));
    }

    void end(int channel) throws Exception {
        flink.processEndOfPartition(channels.info(channel));
    }

    void inject(CheckpointBarrier barrier, int channel) throws Exception {
        flink.processBarrier(barrier, channels.info(channel), true);
    }
//# end
//# from 1.11 before 1.12

    /** The network's thread reports a barrier. Its calls for the task's thread wait until `mail`. */
    void receive(CheckpointBarrier barrier, int channel) throws Exception {
        if (!(flink instanceof CheckpointBarrierUnaligner)) {
            throw new Unsupported("receive_barrier; only the gate of mode unaligned gets it from the network here");
        }
        task.isElsewhere(true);
        try {
            flink.getBufferReceivedListener().get().notifyBarrierReceived(barrier, channels.info(channel));
        } finally {
            task.isElsewhere(false);
        }
    }

    void mail() throws Exception {
        task.mail();
    }
//# end
//# before 1.11

    void receive(CheckpointBarrier barrier, int channel) {
        throw new Unsupported("receive_barrier; only the unaligned gate of 1.11 gets it from the network");
    }

    void mail() {
        throw new Unsupported("mail; there is one thread");
    }
//# end
//# from 1.12

    void receive(CheckpointBarrier barrier, int channel) {
        throw new Unsupported("receive_barrier; only the unaligned gate of 1.11 gets it from the network");
    }

    void mail() {
        throw new Unsupported("mail; there is one thread");
    }
//# end
//# before 1.12

    void announce(CheckpointBarrier barrier, int channel) {
        throw new Unsupported("announce; barriers are announced from 1.12 on");
    }
//# end
//# from 1.12

    void announce(CheckpointBarrier barrier, int channel) throws Exception {
        flink.processBarrierAnnouncement(barrier, 0, channels.info(channel));
    }

    boolean isBlocked(int channel) {
        return View.blocks(flink, channels, channel);
    }
//# end
//# from 1.11

    @SuppressWarnings("unchecked")
    private static <T> T make(Class<T> type, Object... arguments) throws Exception {
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (constructor.getParameterCount() == arguments.length) {
                constructor.setAccessible(true);
                return (T) constructor.newInstance(arguments);
            }
        }
        throw new IllegalStateException(type + " has no constructor of " + arguments.length + " arguments");
    }

    /** A fake. The unaligned handlers call it when they begin to write channel state. It writes nothing. */
    private static SubtaskCheckpointCoordinator coordinator(Effects effects, boolean[] written) {
        return Fakes.of(
                SubtaskCheckpointCoordinator.class,
                (proxy, method, arguments) -> {
//# end
//# from 1.11 before 1.12
                    if (method.getName().equals("initCheckpoint")) {
                        effects.startPersisting((Long) arguments[0]); // from now on the channels store what they read
                    }
                    if (method.getName().equals("getChannelStateWriter")) {
                        return Fakes.of(
                                ChannelStateWriter.class,
                                (writer, called, given) -> {
                                    written[0] |= called.getName().equals("addInputData");
                                    return Fakes.nothing(called.getReturnType());
                                });
                    }
//# end
//# from 1.11
                    Class<?> result = method.getReturnType();
                    return result.isInterface() ? Fakes.silent(result) : Fakes.nothing(result);
                });
    }
//# end
}
