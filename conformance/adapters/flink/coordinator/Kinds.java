package barrierspec.flink;

import org.apache.flink.runtime.checkpoint.CheckpointProperties;
//# from 1.15
import org.apache.flink.core.execution.SavepointFormatType;
//# end

/** Types of snapshots under the names of the protocol. */
final class Kinds {
    private Kinds() {}

    /** The protocol's name of the type of an object with a checkpoint type, such as options or properties. */
    static String of(Object typed) {
        try {
            Object type = Reflect.call(typed, "getCheckpointType");
            if (!(Boolean) isSavepoint(type)) {
                return "checkpoint";
            }
            return (Boolean) isSynchronous(type) ? "stop" : "savepoint";
        } catch (Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The properties of a savepoint, or of a stop-with-savepoint. */
    static CheckpointProperties savepoint(String type, boolean forced, boolean drain) {
        boolean stays = type.equals("savepoint");
//# before 1.11
        return stays ? CheckpointProperties.forSavepoint() : CheckpointProperties.forSyncSavepoint();
//# end
//# from 1.11 before 1.15
        return stays
                ? CheckpointProperties.forSavepoint(forced)
                : CheckpointProperties.forSyncSavepoint(forced, drain);
//# end
//# from 1.15
        return stays
                ? CheckpointProperties.forSavepoint(forced, SavepointFormatType.CANONICAL)
                : CheckpointProperties.forSyncSavepoint(forced, drain, SavepointFormatType.CANONICAL);
//# end
    }

    private static Object isSavepoint(Object type) throws Exception {
        return Reflect.call(type, "isSavepoint");
    }

    private static Object isSynchronous(Object type) throws Exception {
        return Reflect.has(type.getClass(), "isSynchronous", 0) ? Reflect.call(type, "isSynchronous") : false;
    }
}
