package barrierspec.flink;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The configuration of one gate, with the protocol's defaults for the options that are left out. */
final class Config {
    static final String EXACTLY_ONCE = "exactly-once";
    static final String AT_LEAST_ONCE = "at-least-once";
    static final String UNALIGNED = "unaligned";
    static final String ALTERNATING = "alternating";

    /** With so few channels Flink's hash set does not grow, so that each subset keeps the order of the full set. */
    private static final int MOST_CHANNELS_OF_GATES = 12;

    final int channels;
    /** The task's input gates, which share the channels. */
    final int gates;
    final String mode;
    final boolean polled;
    final boolean afterFinish;
    final long timeout;
    final long limit;

    private Config(int channels, int gates, String mode, boolean polled, boolean afterFinish, long timeout, long limit) {
        this.channels = channels;
        this.gates = gates;
        this.mode = mode;
        this.polled = polled;
        this.afterFinish = afterFinish;
        this.timeout = timeout;
        this.limit = limit;
    }

    /** Reads the options. Throws Refused if one is not valid, Unsupported if the release does not have it. */
    static Config of(Map<String, Object> wire, Release release) {
        Object profile = wire.getOrDefault("profile", Release.NEWEST_PROFILE);
        if (!release.profile.equals(profile)) {
            throw new Unsupported("profile " + profile + "; this is " + release.profile);
        }
        long channels = number(wire, "channels", -1);
        if (channels < 1 || channels > 1000) {
            throw new Refused("channels: expected an int from 1 to 1000, got " + wire.get("channels"));
        }
        String mode = choice(wire, "mode", Arrays.asList(EXACTLY_ONCE, AT_LEAST_ONCE, UNALIGNED, ALTERNATING));
        if (!release.modes().contains(mode)) {
            throw new Unsupported("mode " + mode + "; offered: " + String.join(", ", release.modes()));
        }
        String level = choice(wire, "level", Arrays.asList("polled", "handler"));
        boolean mayFinish = release.isAtLeast(1, 14);
        Object afterFinish = wire.getOrDefault("checkpoints_after_tasks_finish", mayFinish);
        if (!(afterFinish instanceof Boolean)) {
            throw new Refused("checkpoints_after_tasks_finish: expected a bool, got " + afterFinish);
        }
        if ((Boolean) afterFinish && !mayFinish) {
            throw new Unsupported("checkpoints_after_tasks_finish; it came with 1.14");
        }
        if (release.gates > 1 && !release.isAtLeast(1, 12)) {
            throw new Unsupported("more than one gate; they are driven from 1.12 on");
        }
        if (release.gates > 1 && channels > MOST_CHANNELS_OF_GATES) {
            throw new Unsupported("more than " + MOST_CHANNELS_OF_GATES + " channels in several gates");
        }
        long limit = number(wire, "alignment_limit_bytes", -1);
        if (limit >= 0 && release.isAtLeast(1, 11)) {
            throw new Unsupported("alignment_limit_bytes; 1.11 has removed it");
        }
        return new Config(
                (int) channels,
                Math.min((int) channels, release.gates),
                mode,
                level.equals("polled"),
                (Boolean) afterFinish,
                number(wire, "alignment_timeout_ms", 0),
                limit);
    }

    private static String choice(Map<String, Object> wire, String name, List<String> known) {
        Object value = wire.getOrDefault(name, known.get(0));
        if (!known.contains(value)) {
            throw new Refused(name + ": expected one of " + String.join(", ", known) + ", got " + value);
        }
        return (String) value;
    }

    /** The whole number in a field, `otherwise` if the field is missing. Throws Refused if it is no whole number. */
    static long number(Map<String, Object> wire, String name, long otherwise) {
        Object value = wire.getOrDefault(name, otherwise);
        if (!(value instanceof Long)) {
            throw new Refused(name + ": expected an int, got " + value);
        }
        return (Long) value;
    }
}
