package barrierspec.flink;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.StandaloneCheckpointIDCounter;

/** Planned failures of I/O: the next use of `id`, `location` or `metadata` can be made to fail. */
final class IoFailures {
    private final Set<String> failing = new HashSet<>();
    private final CoordinatorEffects effects;

    IoFailures(CoordinatorEffects effects) {
        this.effects = effects;
    }

    /** Plans that the next use of `what` fails. */
    void next(String what) {
        failing.add(what);
    }

    /** Whether the next use of `what` fails. */
    boolean isNext(String what) {
        return failing.contains(what);
    }

    /** Call this at each use of `what`. Throws IOException, once, if a failure is planned. */
    void check(String what) throws IOException {
        if (failing.remove(what)) {
            effects.failsFor("IO_EXCEPTION");
            throw new IOException("the " + what + " failed");
        }
    }

    /** Flink's counter of checkpoint ids. Its next call fails if a failure of `id` is planned. */
    StandaloneCheckpointIDCounter counter() {
        return new StandaloneCheckpointIDCounter() {
            @Override
            public long getAndIncrement() throws Exception {
                check("id");
                return super.getAndIncrement();
            }
        };
    }
}
