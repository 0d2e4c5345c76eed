package barrierspec.engines;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/** Reads the records of its lanes in turn; records have a fixed width. */
final class LaneReader implements SourceReader<String, LaneSplit> {
    /** Bytes of a record, with the end of its line. */
    static final int WIDTH = 22;
    private static final int RECORDS_AT_ONCE = 50;
    private static final int LOOK_MILLISECONDS = 10;

    private final File folder;
    private final boolean forgetful;
    private final ArrayDeque<Lane> lanes = new ArrayDeque<>();

    LaneReader(File folder, boolean forgetful) {
        this.folder = folder;
        this.forgetful = forgetful;
    }

    @Override
    public void start() {}

    @Override
    public void addSplits(List<LaneSplit> splits) {
        for (LaneSplit split : splits) {
            Lane lane = new Lane(new File(folder, String.format("lane-%02d", split.lane)), split);
            if (forgetful && split.offset > 0) {
                lane.offset = (int) (lane.file.length() / WIDTH);
            }
            lanes.add(lane);
        }
    }

    @Override
    public InputStatus pollNext(ReaderOutput<String> output) throws IOException {
        for (int tried = lanes.size(); tried > 0; tried--) {
            Lane lane = lanes.poll();
            lanes.add(lane);
            String record = lane.next();
            if (record != null) {
                output.collect(record);
                return InputStatus.MORE_AVAILABLE;
            }
        }
        return InputStatus.NOTHING_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return CompletableFuture.runAsync(
                () -> {}, CompletableFuture.delayedExecutor(LOOK_MILLISECONDS, TimeUnit.MILLISECONDS));
    }

    @Override
    public List<LaneSplit> snapshotState(long checkpoint) {
        List<LaneSplit> splits = new ArrayList<>();
        for (Lane lane : lanes) {
            splits.add(new LaneSplit(lane.number, lane.offset));
        }
        return splits;
    }

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}

    /** One file, with the records that were read from it and not emitted. */
    private static final class Lane {
        final File file;
        final int number;
        int offset;
        private final ArrayDeque<String> read = new ArrayDeque<>();

        Lane(File file, LaneSplit split) {
            this.file = file;
            this.number = split.lane;
            this.offset = split.offset;
        }

        /** The next record, or null if the lane has no more for now. */
        String next() throws IOException {
            if (read.isEmpty() && file.length() >= (offset + 1L) * WIDTH) {
                fill();
            }
            String record = read.poll();
            if (record != null) {
                offset++;
            }
            return record;
        }

        private void fill() throws IOException {
            try (RandomAccessFile open = new RandomAccessFile(file, "r")) {
                long start = (long) offset * WIDTH;
                int whole = (int) Math.min((open.length() - start) / WIDTH, RECORDS_AT_ONCE);
                byte[] bytes = new byte[whole * WIDTH];
                open.seek(start);
                open.readFully(bytes);
                String text = new String(bytes, StandardCharsets.US_ASCII);
                for (String line : text.split("\n")) {
                    read.add(line);
                }
            }
        }
    }
}
