package barrierspec.flink;

import java.util.concurrent.CompletionException;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;

/** Flink's failure reasons under the names of the protocol, and back. */
final class Reasons {
    private Reasons() {}

    /** The reason that an exception carries, somewhere among its causes. */
    static String of(Throwable thrown) {
        Throwable root = root(thrown);
        return root instanceof CheckpointException
                ? name(((CheckpointException) root).getCheckpointFailureReason())
                : root.getClass().getSimpleName();
    }

    /** The reason that an exception carries; null if it carries none. */
    static String within(Throwable thrown) {
        return root(thrown) instanceof CheckpointException ? of(thrown) : null;
    }

    /** Why a pending checkpoint ended; what is no reason of Flink's came while it was completed. */
    static String ofEnd(Throwable thrown) {
        Throwable root = root(thrown);
        return root instanceof CheckpointException ? of(root) : CheckpointFailureReason.FINALIZE_CHECKPOINT_FAILURE.name();
    }

    /** The exception that says why, below those that only carry it. */
    static Throwable root(Throwable thrown) {
        for (Throwable at = thrown; at != null; at = at.getCause()) {
            if (at instanceof CheckpointException) {
                return at;
            }
        }
        Throwable at = thrown;
        while (at instanceof CompletionException && at.getCause() != null) {
            at = at.getCause();
        }
        return at;
    }

    private static String name(CheckpointFailureReason reason) {
        return reason.name()
                .replaceFirst("^CHECKPOINT_DECLINED_", "")
                .replaceFirst("^CHECKPOINT_(COORDINATOR_|ASYNC_)", "$1");
    }

    /** The reason of this name; raises Unsupported where the release has none. */
    static CheckpointFailureReason named(String wire) {
        for (CheckpointFailureReason reason : CheckpointFailureReason.values()) {
            if (reason.name().equals(wire) || name(reason).equals(wire)) {
                return reason;
            }
        }
        throw new Unsupported("reason " + wire + "; this release has none of that name");
    }
}
