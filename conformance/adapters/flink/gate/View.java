package barrierspec.flink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
//# from 1.11
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
//# end

/** Reads the observable state of a handler from its private fields, and leaves out what it does not have. */
final class View {
    private static final String[] CURRENT = {
        "latestPendingCheckpointID", "currentCheckpointId", "currentConsumedCheckpointId", "lastSeenBarrierId"
    };

    /** The field of 1.11's `CheckpointBarrierUnaligner` with the part that the network's thread calls. */
    private static final String UNALIGNER = "threadSafeUnaligner";

    private View() {}

    /** The state in wire form. `ended`: for each channel, whether the handler has received its end. */
    static Map<String, Object> of(Config config, Handler handler, boolean[] ended) {
        Map<String, Object> state = new TreeMap<>();
        Object flink = active(handler.flink);
        boolean tracks = Fields.has(flink, "pendingCheckpoints");
        boolean hasTwo = Fields.has(flink, UNALIGNER);
        Object unaligner = hasTwo ? Fields.get(flink, UNALIGNER) : null;
        if (hasTwo || flink != handler.flink) {
            // in 1.11 the state of the network's thread, which may be ahead of the state of the task's thread
            boolean pending = hasTwo
                    ? (Integer) Fields.get(unaligner, "numBarriersReceived") > 0
                    : isPending(flink, false);
            state.put("arrived", list(config.channels,
                    channel -> pending && (hasTwo ? !stores(unaligner, channel) : handler.isBlocked(channel))));
            state.put("persisting", list(config.channels,
                    channel -> hasTwo && !ended[channel] && stores(unaligner, channel)));
        }
        if (Fields.has(flink, "alignedChannels") && !config.mode.equals(Config.EXACTLY_ONCE)) {
            Collection<?> aligned = (Collection<?>) Fields.get(flink, "alignedChannels");
            boolean pending = isPending(flink, tracks); // otherwise the field has old values
            state.put("arrived", list(config.channels, channel -> pending && contains(aligned, handler, channel)));
        }
        if (Fields.has(flink, "numClosedChannels") || Fields.has(flink, "numOpenChannels")) {
            state.put("closed", closed(config, flink, ended));
        } else if (hasTwo) {
            state.put("closed", closed(config, unaligner, ended));
        }
        state.put("current", current(flink));
        state.put("pending", isPending(flink, tracks));
        if (tracks) {
            state.put("tracked", tracked(config, handler, (Collection<?>) Fields.get(flink, "pendingCheckpoints")));
        } else {
            state.put("blocked", list(config.channels, handler::isBlocked));
        }
        return state;
    }

    /** The handler that acts now: in 1.11 the handler of mode alternating switches between two others. */
    private static Object active(Object flink) {
        return Fields.has(flink, "activeHandler") ? Fields.get(flink, "activeHandler") : flink;
    }

    private static Object current(Object flink) {
        for (String name : CURRENT) {
            if (Fields.has(flink, name)) {
                return Fields.get(flink, name);
            }
        }
        throw new IllegalStateException(flink.getClass() + " has none of " + String.join(", ", CURRENT));
    }

    private static boolean isPending(Object flink, boolean tracks) {
        if (tracks) {
            return !((Collection<?>) Fields.get(flink, "pendingCheckpoints")).isEmpty();
        }
        if (Fields.has(flink, "numBarrierConsumed")) {
            return (Integer) Fields.get(flink, "numBarrierConsumed") > 0;
        }
        if (Fields.has(flink, "numBarriersReceived") && !Fields.has(flink, "lastCancelledOrCompletedCheckpointId")) {
            return (Integer) Fields.get(flink, "numBarriersReceived") > 0;
        }
        long current = (Long) Fields.get(flink, "currentCheckpointId");
        return current != (Long) Fields.get(flink, "lastCancelledOrCompletedCheckpointId");
    }

    /** The closed channels. Flink keeps only their number: if it differs from that of `ended`, this returns it. */
    private static Object closed(Config config, Object flink, boolean[] ended) {
        int count = Fields.has(flink, "numClosedChannels")
                ? (Integer) Fields.get(flink, "numClosedChannels")
                : config.channels - (Integer) Fields.get(flink, "numOpenChannels");
        List<Integer> known = list(config.channels, channel -> ended[channel]);
        return count == known.size() ? known : (Object) count;
    }

    private static List<Object> tracked(Config config, Handler handler, Collection<?> pending) {
        List<Object> tracked = new ArrayList<>();
        for (Object entry : pending) {
            Object counted;
            if (Fields.has(entry, "barrierCount")) {
                counted = Fields.get(entry, "barrierCount");
            } else {
                Collection<?> aligned = (Collection<?>) Fields.get(entry, "alignedChannels");
                counted = list(config.channels, channel -> contains(aligned, handler, channel));
            }
            tracked.add(Arrays.asList(Fields.get(entry, "checkpointId"), counted, Fields.get(entry, "aborted")));
        }
        return tracked;
    }

    /** A condition on a channel. */
    interface Member {
        boolean holds(int channel);
    }

    private static List<Integer> list(int channels, Member member) {
        List<Integer> members = new ArrayList<>();
        for (int channel = 0; channel < channels; channel++) {
            if (member.holds(channel)) {
                members.add(channel);
            }
        }
        return members;
    }
//# from 1.11 before 1.12

    /** Whether the unaligner stores what the channel delivers. */
    private static boolean stores(Object unaligner, int channel) {
        Map<?, ?> stores = (Map<?, ?>) Fields.get(unaligner, "storeNewBuffers");
        return Boolean.TRUE.equals(stores.get(new InputChannelInfo(0, channel)));
    }
//# end
//# before 1.11

    private static boolean stores(Object unaligner, int channel) {
        return false;
    }
//# end
//# from 1.12

    private static boolean stores(Object unaligner, int channel) {
        return false;
    }
//# end
//# before 1.12

    private static boolean contains(Collection<?> channels, Handler handler, int channel) {
        return channels.contains(channel);
    }
//# end
//# from 1.12

    private static boolean contains(Collection<?> channels, Handler handler, int channel) {
        return channels.contains(handler.channels.info(channel));
    }

    /** Whether the handler has blocked the channel. */
    static boolean blocks(Object flink, Channels channels, int channel) {
        Object state = blockedOf(flink);
        InputChannelInfo info = channels.info(channel);
        if (state instanceof Map) {
            return Boolean.TRUE.equals(((Map<?, ?>) state).get(info));
        }
        return state != null && ((Collection<?>) state).contains(info);
    }
//# end
//# from 1.12 before 1.13

    private static Object blockedOf(Object flink) {
        Object controller = Fields.get(flink, "controller");
        if (Fields.has(controller, "alignedController")) {
            controller = Fields.get(controller, "alignedController");
        }
        return Fields.has(controller, "blockedChannels") ? Fields.get(controller, "blockedChannels") : null;
    }
//# end
//# from 1.13

    private static Object blockedOf(Object flink) {
        Object state = Fields.get(flink, "currentState");
        Object channelState = Fields.get(state, Fields.has(state, "state") ? "state" : "channelState");
        return Fields.get(channelState, "blockedChannels");
    }
//# end
}
