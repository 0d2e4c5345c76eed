package barrierspec.flink;

//# from 1.13
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.executiongraph.ExecutionJobVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
//# end

/** A savepoint without state. The coordinator starts the job from it, before the first checkpoint. */
final class Savepoint {
    private static final String PATH = "savepoint-";

    private Savepoint() {}
//# before 1.13

    static void restore(Object flink, Job job, long id, String mode) {
        throw new Unsupported("restored_savepoint; it is driven from 1.13 on");
    }
//# end
//# from 1.13

    /** Makes the coordinator restore savepoint `id`. `mode`: the claim mode; up to 1.14 it must be null. */
    static void restore(CheckpointCoordinator flink, Job job, long id, String mode) throws Exception {
        Map<JobVertexID, ExecutionJobVertex> tasks = new HashMap<>();
        for (ExecutionJobVertex vertex : job.vertices()) {
            tasks.put(vertex.getJobVertexId(), vertex);
        }
        ClassLoader loader = Savepoint.class.getClassLoader();
//# end
//# from 1.13 before 1.15
        if (mode != null) {
            throw new Unsupported("claim_mode; it came with 1.15");
        }
        flink.restoreSavepoint(PATH + id, false, tasks, loader);
    }
//# end
//# from 1.15
        flink.restoreSavepoint(settings(PATH + id, mode), tasks, loader);
    }

    /** The settings for a claim mode; their class differs by release. A null mode is the default of a job. */
    private static SavepointRestoreSettings settings(String path, String mode) throws Exception {
        if (mode == null) {
            return SavepointRestoreSettings.forPath(path, false);
        }
        for (Method method : SavepointRestoreSettings.class.getMethods()) {
            if (method.getName().equals("forPath") && method.getParameterCount() == 3) {
                List<?> modes = Arrays.asList(method.getParameterTypes()[2].getEnumConstants());
                for (Object one : modes) {
                    if (((Enum<?>) one).name().equals(mode)) {
                        return (SavepointRestoreSettings) method.invoke(null, path, false, one);
                    }
                }
                throw new Refused("claim_mode: expected one of " + modes + ", got " + mode);
            }
        }
        throw new Unsupported("claim_mode " + mode);
    }
//# end
//# from 1.13

    /** The id in the path of a savepoint. */
    static long idOf(String path) {
        return Long.parseLong(path.substring(PATH.length()));
    }

    /** The content of the metadata file. */
    static FSDataInputStream metadata(long id) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Checkpoints.storeCheckpointMetadata(
                new CheckpointMetadata(id, Collections.emptyList(), Collections.emptyList()), (OutputStream) bytes);
        ByteArrayInputStream in = new ByteArrayInputStream(bytes.toByteArray());
        int size = bytes.size();
        return new FSDataInputStream() {
            @Override
            public void seek(long position) {
                in.reset();
                in.skip(position);
            }

            @Override
            public long getPos() {
                return size - in.available();
            }

            @Override
            public int read() {
                return in.read();
            }
        };
    }
//# end

    /** Whether a trigger requires a full snapshot. */
    static boolean isFull(Object options) {
//# before 1.15
        return false;
//# end
//# from 1.15
        return ((CheckpointOptions) options).getCheckpointType() == CheckpointType.FULL_CHECKPOINT;
//# end
    }
}
