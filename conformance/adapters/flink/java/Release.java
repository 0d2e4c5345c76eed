package barrierspec.flink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** The release whose classes are on the class path, and what of the protocol it can do. */
final class Release {
    static final String NEWEST_PROFILE = "flink-1.14";
    static final String NEWEST_COORDINATOR = "2.3";
    static final String NEWEST_CHANNEL = "flink-2.3";

    final String version;
    final String profile;
    final String coordinator;
    final String channel;
    private final int major;
    private final int minor;

    Release(String version, String profile, String coordinator, String channel) {
        String[] parts = version.split("\\.");
        this.version = version;
        this.profile = profile;
        this.coordinator = coordinator;
        this.channel = channel;
        this.major = Integer.parseInt(parts[0]);
        this.minor = Integer.parseInt(parts[1]);
    }

    boolean isAtLeast(int wantedMajor, int wantedMinor) {
        return major > wantedMajor || major == wantedMajor && minor >= wantedMinor;
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

    void hello(StringBuilder out, Long seq, int protocol) {
        out.append("{\"components\":{");
        if (!channel.isEmpty()) {
            out.append("\"channel\":{\"capabilities\":[],\"modes\":[],\"profiles\":");
            Json.write(Collections.singletonList(channel), out);
            out.append("},");
        }
        if (isAtLeast(1, 10)) {
            for (String component : Components.OF_THE_COORDINATOR) {
                out.append('"').append(component).append("\":{\"capabilities\":[],\"modes\":[],\"profiles\":");
                Json.write(Collections.singletonList(coordinator), out);
                out.append("},");
            }
        }
        out.append("\"sink\":{\"capabilities\":[],\"modes\":[],\"profiles\":");
        Json.write(Collections.singletonList(sink()), out);
        out.append("},\"gate\":{\"capabilities\":[\"handler\",\"polled\"],\"modes\":");
        Json.write(modes(), out);
        out.append(",\"profiles\":");
        Json.write(Collections.singletonList(profile), out);
        out.append("}},\"implementation\":\"apache-flink\",\"language\":\"java\",\"protocol\":");
        out.append(protocol).append(",\"seq\":").append(seq).append(",\"version\":");
        Json.write(version, out);
        out.append('}');
    }
}
