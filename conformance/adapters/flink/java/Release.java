package barrierspec.flink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The release whose classes are on the class path, and the parts of the protocol that it offers. */
final class Release {
    static final String NEWEST_PROFILE = "flink-1.14";
    static final String NEWEST_COORDINATOR = "2.3";
    static final String NEWEST_CHANNEL = "flink-2.3";

    final String version;
    final String profile;
    final String coordinator;
    final String channel;
    final String subtask;
    final String source;
    /** The number of input gates of a task that has at least as many channels. Before 1.12 it must be 1. */
    final int gates;
    private final int major;
    private final int minor;

    Release(String version, String profile, String coordinator, String channel, String subtask, String source, int gates) {
        String[] parts = version.split("\\.");
        this.version = version;
        this.profile = profile;
        this.coordinator = coordinator;
        this.channel = channel;
        this.subtask = subtask;
        this.source = source;
        this.gates = gates;
        this.major = Integer.parseInt(parts[0]);
        this.minor = Integer.parseInt(parts[1]);
    }

    boolean isAtLeast(int otherMajor, int otherMinor) {
        return major > otherMajor || major == otherMajor && minor >= otherMinor;
    }

    /** The profile of its sinks. */
    String sink() {
        return isAtLeast(1, 14) ? "1.14" : "1.9";
    }

    List<String> modes() {
        List<String> modes = new ArrayList<>(Arrays.asList(Config.EXACTLY_ONCE, Config.AT_LEAST_ONCE));
        if (isAtLeast(1, 11)) {
            modes.add(Config.UNALIGNED);
            modes.add(Config.ALTERNATING);
        }
        return modes;
    }

    /** Fills in the answer to `hello`. */
    void hello(Map<String, Object> answer, int protocol) {
        Map<String, Object> components = new TreeMap<>();
        if (!channel.isEmpty()) {
            components.put("channel", offer(channel, Collections.emptyList(), Collections.emptyList()));
        }
        if (!subtask.isEmpty()) {
            components.put("subtask", offer(subtask, Collections.emptyList(), Collections.singletonList("restored")));
        }
        if (!source.isEmpty()) {
            components.put("source", offer(source, Collections.emptyList(), Collections.emptyList()));
        }
        for (String component : Components.OF_THE_COORDINATOR) {
            List<String> options = new ArrayList<>();
            if (component.equals("coordinator")) {
                options.add("io_failures");
                if (isAtLeast(1, 12)) {
                    options.add("cleaning");
                }
                if (isAtLeast(1, 13)) {
                    options.add("restored_savepoint");
                }
            }
            components.put(component, offer(coordinator, Collections.emptyList(), options));
        }
        components.put("sink", offer(sink(), Collections.emptyList(), Collections.emptyList()));
        components.put("gate", offer(profile, modes(), Arrays.asList("handler", "polled")));
        answer.put("components", components);
        answer.put("implementation", "apache-flink");
        answer.put("language", "java");
        answer.put("protocol", protocol);
        answer.put("version", version);
    }

    private static Map<String, Object> offer(String profile, List<String> modes, List<String> capabilities) {
        Map<String, Object> offer = new TreeMap<>();
        offer.put("profiles", Collections.singletonList(profile));
        offer.put("modes", modes);
        offer.put("capabilities", capabilities);
        return offer;
    }
}
