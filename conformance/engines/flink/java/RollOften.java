package barrierspec.engines;

import org.apache.flink.streaming.api.functions.sink.filesystem.PartFileInfo;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;

/**
 * Closes a part file after 8,000 bytes or 700 ms, but not at a checkpoint. So a part file stays open over some
 * checkpoints: a restore truncates it, and continues to write to it.
 */
final class RollOften implements RollingPolicy<String, String> {
    private static final long MILLISECONDS = 700;
    private static final long BYTES = 8_000;

    @Override
    public boolean shouldRollOnCheckpoint(PartFileInfo<String> file) {
        return false;
    }

    @Override
    public boolean shouldRollOnEvent(PartFileInfo<String> file, String row) throws java.io.IOException {
        return file.getSize() > BYTES;
    }

    @Override
    public boolean shouldRollOnProcessingTime(PartFileInfo<String> file, long now) {
        return now - file.getCreationTime() > MILLISECONDS;
    }
}
