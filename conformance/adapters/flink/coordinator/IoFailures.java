package barrierspec.flink;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.StandaloneCheckpointIDCounter;

/** What fails at its next use: drawing an id, initialising a storage location, writing the metadata. */
final class IoFailures {
    private final Set<String> failing = new HashSet<>();
    private final CoordinatorEffects effects;

    IoFailures(CoordinatorEffects effects) {
        this.effects = effects;
    }

    /** The next use of this fails. */
    void next(String what) {
        failing.add(what);
    }

    /** Whether the next use of this fails. */
    boolean isNext(String what) {
        return failing.contains(what);
    }

    /** A use of this; raises IOException if it is the one that fails. */
    void check(String what) throws IOException {
        if (failing.remove(what)) {
            effects.failsFor("IO_EXCEPTION");
            throw new IOException("the " + what + " failed");
        }
    }

    /** Flink's counter of ids, whose next draw may fail. */
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
