package barrierspec.flink;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import org.apache.flink.runtime.state.CheckpointMetadataOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageLocation;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.StreamStateHandle;

/** A fake checkpoint storage. It keeps no data, and the deletion of a checkpoint is an effect. */
final class Storage {
    private final CoordinatorEffects effects;
    private final States states;
    private final IoFailures failures;

    Storage(CoordinatorEffects effects, States states, IoFailures failures) {
        this.effects = effects;
        this.states = states;
        this.failures = failures;
    }

    /** This storage as an object of the type that the release uses. */
    <T> T as(Class<T> type) {
        return Fakes.of(type, calls());
    }

    /** The storage location of a completed checkpoint. */
    CompletedCheckpointStorageLocation completed(long checkpoint) {
        return new Metadata(checkpoint).written();
    }

    private InvocationHandler calls() {
        return (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "createCheckpointStorage":
                    return Fakes.of(method.getReturnType(), calls());
                case "initializeLocationForCheckpoint":
                case "initializeLocationForSavepoint":
                    failures.check("location");
                    return location((Long) arguments[0]);
//# from 1.13
                case "resolveCheckpoint":
                    return completed(Savepoint.idOf((String) arguments[0]));
//# end
                case "hasDefaultSavepointLocation":
                case "supportsHighlyAvailableStorage":
                    return true;
                default:
                    return Fakes.nothing(method.getReturnType());
            }
        };
    }

    private CheckpointStorageLocation location(long checkpoint) {
        return Fakes.of(
                CheckpointStorageLocation.class,
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "createMetadataOutputStream":
                            return new Metadata(checkpoint);
                        case "getLocationReference":
                            return CheckpointStorageLocationReference.getDefault();
                        default:
                            return Fakes.nothing(method.getReturnType());
                    }
                });
    }

    /** The output stream of a checkpoint's metadata. It drops all bytes. */
    private final class Metadata extends CheckpointMetadataOutputStream {
        private final long checkpoint;
        private long position;

        Metadata(long checkpoint) {
            this.checkpoint = checkpoint;
        }

        @Override
        public CompletedCheckpointStorageLocation closeAndFinalizeCheckpoint() throws IOException {
            if (failures.isNext("metadata")) {
                states.unwritten(checkpoint);
            }
            failures.check("metadata");
            return written();
        }

        CompletedCheckpointStorageLocation written() {
            states.finalized(checkpoint);
            StreamStateHandle handle = metadata();
            return Fakes.of(
                    CompletedCheckpointStorageLocation.class,
                    (proxy, method, arguments) -> {
                        switch (method.getName()) {
                            case "getExternalPointer":
                                return "checkpoint-" + checkpoint;
                            case "getMetadataHandle":
                                return handle;
                            default:
                                return Fakes.nothing(method.getReturnType());
                        }
                    });
        }

        /** The handle of the metadata. Flink deletes it with the checkpoint; this deletion is the effect. */
        private StreamStateHandle metadata() {
            return Fakes.of(
                    StreamStateHandle.class,
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("discardState")) {
                            effects.discard(checkpoint);
                        }
//# from 1.13
                        if (method.getName().equals("openInputStream")) {
                            return Savepoint.metadata(checkpoint);
                        }
//# end
                        return Fakes.nothing(method.getReturnType());
                    });
        }

        @Override
        public void write(int b) {
            position++;
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void flush() {}

        @Override
        public void sync() {}

        @Override
        public void close() throws IOException {}
    }
}
