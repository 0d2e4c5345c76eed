package barrierspec.flink;

import java.util.Map;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
//# from 1.11
import org.apache.flink.runtime.checkpoint.CheckpointOptions.AlignmentType;
//# end
//# from 1.15
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.SavepointType;
//# end

/** Makes Flink's barriers from events of the adapter protocol. */
final class Barriers {
    private final Config config;
    private final Time time;
    private final CheckpointOptions plain;

    Barriers(Config config, Time time) {
        this.config = config;
        this.time = time;
        this.plain = options("aligned", false);
    }

    /** The barrier of an event with `checkpoint`, `alignment`, `savepoint` and `timestamp`. */
    CheckpointBarrier of(Map<String, Object> event) {
        Object alignment = event.getOrDefault("alignment", "aligned");
        boolean savepoint = Boolean.TRUE.equals(event.get("savepoint"));
        boolean isPlain = !savepoint && alignment.equals("aligned");
        return new CheckpointBarrier(
                Config.number(event, "checkpoint", -1),
                Config.number(event, "timestamp", time.now()),
                isPlain ? plain : options(String.valueOf(alignment), savepoint));
    }
//# before 1.11

    private CheckpointOptions options(String alignment, boolean savepoint) {
        if (!alignment.equals("aligned")) {
            throw new Unsupported("alignment " + alignment + "; before 1.11 every barrier is aligned");
        }
        return new CheckpointOptions(
                savepoint ? CheckpointType.SAVEPOINT : CheckpointType.CHECKPOINT,
                CheckpointStorageLocationReference.getDefault());
    }
//# end
//# from 1.11

    private AlignmentType type(String alignment) {
        switch (alignment) {
            case "aligned":
            case "timeout":
                boolean exact = !config.mode.equals(Config.AT_LEAST_ONCE);
                return exact ? AlignmentType.ALIGNED : AlignmentType.AT_LEAST_ONCE;
            case "unaligned":
                return AlignmentType.UNALIGNED;
            case "forced-aligned":
                return AlignmentType.FORCED_ALIGNED;
            default:
                throw new Refused(
                        "alignment: expected aligned, unaligned, forced-aligned or timeout, got " + alignment);
        }
    }
//# end
//# from 1.11 before 1.12

    private CheckpointOptions options(String alignment, boolean savepoint) {
        return new CheckpointOptions(
                savepoint ? CheckpointType.SAVEPOINT : CheckpointType.CHECKPOINT,
                CheckpointStorageLocationReference.getDefault(),
                type(alignment));
    }
//# end
//# from 1.12 before 1.15

    private CheckpointOptions options(String alignment, boolean savepoint) {
        return new CheckpointOptions(
                savepoint ? CheckpointType.SAVEPOINT : CheckpointType.CHECKPOINT,
                CheckpointStorageLocationReference.getDefault(),
                type(alignment),
                alignment.equals("timeout") ? config.timeout : Long.MAX_VALUE);
    }
//# end
//# from 1.15

    private CheckpointOptions options(String alignment, boolean savepoint) {
        return new CheckpointOptions(
                savepoint ? SavepointType.savepoint(SavepointFormatType.CANONICAL) : CheckpointType.CHECKPOINT,
                CheckpointStorageLocationReference.getDefault(),
                type(alignment),
                alignment.equals("timeout") ? config.timeout : Long.MAX_VALUE);
    }
//# end
}
