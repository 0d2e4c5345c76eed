package barrierspec.flink;

import java.util.concurrent.CompletionException;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;

/** Translates Flink's failure reasons to the names of the protocol, and back. */
final class Reasons {
    private Reasons() {}

    /** The reason in an exception or in one of its causes; without one, the name of the exception's class. */
    static String of(Throwable thrown) {
        Throwable root = root(thrown);
        return root instanceof CheckpointException
                ? name(((CheckpointException) root).getCheckpointFailureReason())
                : root.getClass().getSimpleName();
    }

    /** The reason in an exception or in one of its causes; null without one. */
    static String within(Throwable thrown) {
        return root(thrown) instanceof CheckpointException ? of(thrown) : null;
    }

    /** Why a pending checkpoint ended. An exception without a reason of Flink came from its completion. */
    static String ofEnd(Throwable thrown) {
        Throwable root = root(thrown);
        return root instanceof CheckpointException ? of(root) : CheckpointFailureReason.FINALIZE_CHECKPOINT_FAILURE.name();
    }

    /** The first CheckpointException among the causes; without one, the cause inside all CompletionExceptions. */
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

    /** The reason of this name. Throws Unsupported if the release does not have it. */
    static CheckpointFailureReason named(String wire) {
        for (CheckpointFailureReason reason : CheckpointFailureReason.values()) {
            if (reason.name().equals(wire) || name(reason).equals(wire)) {
                return reason;
            }
        }
        throw new Unsupported("reason " + wire + "; this release has none of that name");
    }
}
