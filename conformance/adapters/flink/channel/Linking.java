package barrierspec.flink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
import org.apache.flink.util.CloseableIterator;

/** Component `channel`: Flink's subpartition and its input channel. No network is between them. */
final class Linking implements Component {
    private static final String PREFIX = "CHECKPOINT_DECLINED_";

    private final CoordinatorEffects effects = new CoordinatorEffects(true);
    private final ChannelStateWriter writer =
            Fakes.of(ChannelStateWriter.class, (proxy, method, arguments) -> stored(method.getName(), arguments));
    private SenderEnd sender;
    private ReceiverEnd receiver;
    private boolean isStored;

    Linking(Map<String, Object> wire, Release release) throws Exception {
        Object profile = wire.getOrDefault("profile", Release.NEWEST_CHANNEL);
        if (!release.channel.equals(profile)) {
            throw new Unsupported("profile " + profile + "; this is " + release.channel);
        }
        begin(Collections.emptyList(), Collections.emptyList());
    }

    private void begin(List<?> input, List<?> output) throws Exception {
        sender = new SenderEnd(output, writer);
        receiver = new ReceiverEnd(input, writer);
    }

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.begin();
        try {
            apply(event);
        } catch (Refused refused) {
            throw refused;
        } catch (Exception thrown) {
            effects.add("fail", "error", thrown.getClass().getSimpleName());
        }
        return effects.end();
    }

    private void apply(Map<String, Object> event) throws Exception {
        String kind = String.valueOf(event.get("kind"));
        switch (kind) {
            case "emit":
                sender.write(event.get("value"));
                break;
            case "transfer":
                transfer();
                break;
            case "take":
                Buffer read = receiver.read();
                if (read != null) {
                    give(Items.shown(read));
                }
                break;
            case "resume":
                sender.resume();
                break;
            case "restore":
                begin(list(event, "input"), list(event, "output"));
                break;
            default:
                ofCheckpoint(kind, event);
        }
    }

    private void ofCheckpoint(String kind, Map<String, Object> event) throws Exception {
        long checkpoint = Config.number(event, "checkpoint", -1);
        switch (kind) {
            case "send_barrier":
                send(checkpoint, String.valueOf(event.getOrDefault("alignment", "aligned")));
                break;
            case "time_out":
                sender.timeOut(checkpoint);
                break;
            case "abort":
                sender.abort(checkpoint);
                break;
            case "start_persisting":
                start(checkpoint);
                break;
            case "stop_persisting":
                receiver.stop(checkpoint);
                break;
            case "prioritise":
                receiver.prioritise(checkpoint);
                break;
            default:
                throw new Refused("kind: expected an event of a channel, got " + kind);
        }
    }

    /** Sends a barrier. If an unaligned one overtakes no record, Flink stores nothing; the effect has no records. */
    private void send(long checkpoint, String alignment) throws IOException {
        isStored = false;
        sender.barrier(checkpoint, alignment);
        if (alignment.equals("unaligned") && !isStored) {
            effects.add("store_output", "checkpoint", checkpoint, "records", Collections.emptyList());
        }
    }

    private void transfer() throws IOException {
        BufferAndBacklog item = receiver.recovering() > 0 ? null : sender.leave();
        if (item != null) {
            receiver.arrive(item);
        }
    }

    private void start(long checkpoint) {
        try {
            receiver.start(checkpoint);
        } catch (CheckpointException thrown) {
            String reason = thrown.getCheckpointFailureReason().name();
            effects.add(
                    "decline",
                    "checkpoint",
                    checkpoint,
                    "reason",
                    reason.startsWith(PREFIX) ? reason.substring(PREFIX.length()) : reason);
        }
    }

    private void give(List<Object> item) {
        String kind = (String) item.get(0);
        if (kind.equals("record")) {
            effects.add(kind, "value", item.get(1));
        } else if (kind.equals("announce")) {
            effects.add(kind, "checkpoint", item.get(1));
        } else {
            effects.add(kind, "checkpoint", item.get(1), "alignment", item.get(2));
        }
    }

    /** Answers a call of the writer of channel state, at the sender or at the receiver. */
    @SuppressWarnings("unchecked")
    private Object stored(String method, Object[] given) throws Exception {
        switch (method) {
            case "addInputData":
                try (CloseableIterator<Buffer> buffers = (CloseableIterator<Buffer>) given[3]) {
                    List<Buffer> all = new ArrayList<>();
                    buffers.forEachRemaining(all::add);
                    effects.add("store_input", "checkpoint", given[0], "records", Items.values(all));
                }
                return null;
            case "addOutputData":
                isStored = true;
                storeOutput(given[0], Arrays.asList((Buffer[]) given[3]));
                return null;
            case "addOutputDataFuture":
                ((CompletableFuture<List<Buffer>>) given[3]).whenComplete((buffers, lost) -> {
                    if (lost != null) {
                        effects.add("lose_output", "checkpoint", given[0]);
                    } else {
                        storeOutput(given[0], buffers);
                    }
                });
                return null;
            default:
                throw new AssertionError("a channel does not ask for " + method);
        }
    }

    private void storeOutput(Object checkpoint, List<Buffer> buffers) {
        effects.add("store_output", "checkpoint", checkpoint, "records", Items.values(buffers));
    }

    private static List<?> list(Map<String, Object> event, String name) {
        if (!(event.get(name) instanceof List)) {
            throw new Refused(name + ": expected a list of record values, got " + event.get(name));
        }
        return (List<?>) event.get(name);
    }

    @Override
    public Map<String, Object> state() {
        TreeMap<String, Object> state = new TreeMap<>();
        state.put("output", shown(sender.waiting()));
        state.put("input", shown(receiver.waiting()));
        state.put("blocked", sender.isBlocked());
        state.put("promised", sender.promised());
        state.put("persisting", receiver.persisting());
        state.put("recovering", receiver.recovering());
        return state;
    }

    private static List<Object> shown(List<Buffer> buffers) {
        List<Object> shown = new ArrayList<>();
        for (Buffer buffer : buffers) {
            try {
                shown.add(Items.shown(buffer));
            } catch (IOException unreadable) {
                throw new IllegalStateException(unreadable);
            }
        }
        return shown;
    }
}
