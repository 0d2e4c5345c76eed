package barrierspec.flink;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A released task of a source, from the trigger of the coordinator until its snapshot begins.
 *
 * <p>The trigger goes through `TaskExecutor`, its slot table and `Task` to a `SourceStreamTask` or a
 * `SourceOperatorStreamTask`. The harness has the environment, the record writer, the source function or reader,
 * and the threads. What takes the snapshot is a stand-in: its call is the effect `trigger`.
 */
final class Sourcing implements Component {
    private final Effects effects = new Effects();
    private final DrivenSource source;
    private final boolean induced;

    Sourcing(Map<String, Object> config, Release release) {
        String profile = String.valueOf(config.getOrDefault("profile", release.source));
        if (!profile.equals(release.source)) {
            throw new Unsupported("profile " + profile + "; this release has " + release.source);
        }
        String external = String.valueOf(config.getOrDefault("external", "no"));
        induced = !external.equals("no");
        switch (external) {
            case "function":
                source = new FunctionSource(effects, true);
                return;
            case "reader":
                source = reader(effects, true);
                return;
            case "no":
                source = new PlainSources(effects, release);
                return;
            default:
                throw new Unsupported("external " + external + "; offered: no, function, reader");
        }
    }

//# from 1.11
    /** A task of a reader; raises Unsupported in a release that has no such task. */
    static DrivenSource reader(Effects effects, boolean induced) {
        return new ReaderSource(effects, induced);
    }

//# end
//# before 1.11
    /** A task of a reader; raises Unsupported in a release that has no such task. */
    static DrivenSource reader(Effects effects, boolean induced) {
        throw new Unsupported("external reader; this release has no SourceOperatorStreamTask");
    }

//# end
    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        effects.take();
        try {
            apply(event);
            source.settle();
        } catch (Refused | Unsupported wrong) {
            throw wrong;
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
        return effects.take();
    }

    private void apply(Map<String, Object> event) throws Exception {
        String kind = String.valueOf(event.get("kind"));
        switch (kind) {
            case "trigger":
                source.trigger(checkpoint(event), !"elsewhere".equals(event.get("to")));
                return;
            case "induce":
                if (!induced) {
                    throw new Refused("induce: the source is not externally induced");
                }
                source.induce(checkpoint(event));
                return;
            case "ended":
                source.ended(checkpoint(event));
                return;
            case "status":
                source.status(event.get("running") == Boolean.TRUE);
                return;
            default:
                throw new Refused("kind " + kind + ": not one of a source");
        }
    }

    private static long checkpoint(Map<String, Object> event) {
        return Config.number(event, "checkpoint", -1);
    }

    @Override
    public Map<String, Object> state() {
        Map<String, Object> state = new TreeMap<>();
        source.describe(state);
        return state;
    }
}
