package barrierspec.flink;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The components of this release. A component that the release lacks is not compiled for it. */
final class Components {
    static final List<String> OF_THE_COORDINATOR = Arrays.asList("coordinator", "store");

    private Components() {}

    static Component make(String name, Map<String, Object> config, Release release) {
        switch (name) {
            case "gate":
                return Gate.make(Config.of(config, release), release);
            case "coordinator":
                return made("Coordinating", config, release);
            case "store":
                return made("Storing", config, release);
            case "sink":
                return made("Sinking", config, release);
            case "failures":
                return made("Failing", config, release);
            case "subtask":
                if (release.subtask.isEmpty()) {
                    throw new Unsupported("component subtask; that of this release is not driven");
                }
                return made("Subtasking", config, release);
            case "source":
                if (release.source.isEmpty()) {
                    throw new Unsupported("component source; that of this release is not driven");
                }
                return made("Sourcing", config, release);
            case "channel":
                if (release.channel.isEmpty()) {
                    throw new Unsupported("component channel; that of this release is not driven");
                }
                return made("Linking", config, release);
            default:
                throw new Unsupported("component " + name + "; offered: gate, coordinator, store, sink, channel, subtask,"
                        + " source");
        }
    }

    private static Component made(String type, Map<String, Object> config, Release release) {
        try {
            Constructor<?> constructor =
                    Class.forName("barrierspec.flink." + type).getDeclaredConstructor(Map.class, Release.class);
            return (Component) constructor.newInstance(config, release);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof RuntimeException) {
                throw (RuntimeException) thrown.getCause();
            }
            throw new IllegalStateException(thrown.getCause());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
