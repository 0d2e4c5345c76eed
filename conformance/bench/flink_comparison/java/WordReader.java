package barrierspec.words;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/** Reads its parts of the files one after the other, and each file as a whole. */
final class WordReader<T> implements SourceReader<T, WordSplit> {
    static final int WIDTH = 8;
    private static final double NANOSECONDS = 1e9;
    private static final int LOOK_MILLISECONDS = 1;

    private final Path[] files;
    private final int parts;
    private final double rowsPerSecond;
    private final String begun;
    private final Rows<T> rows;
    private final Deque<WordSplit> waiting = new ArrayDeque<>();
    private boolean isLast;
    private int part = -1;
    private int file;
    private long offset;
    private ByteBuffer read = ByteBuffer.allocate(0);
    private CompletableFuture<Void> more = new CompletableFuture<>();
    private long began;

    WordReader(String folder, int parts, double rowsPerSecond, String begun, Rows<T> rows)
            throws IOException {
        File[] found = new File(folder).listFiles((where, name) -> name.endsWith(".bin"));
        this.files = Arrays.stream(found).sorted().map(File::toPath).toArray(Path[]::new);
        this.parts = parts;
        this.rowsPerSecond = rowsPerSecond;
        this.begun = begun;
        this.rows = rows;
        rows.open(Files.readAllLines(Path.of(folder, "words.txt")));
    }

    @Override
    public void start() {}

    @Override
    public void addSplits(List<WordSplit> splits) {
        waiting.addAll(splits);
        more.complete(null);
    }

    @Override
    public void notifyNoMoreSplits() {
        isLast = true;
        more.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
        while (!read.hasRemaining()) {
            if (!fill()) {
                return isLast ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
            }
        }
        if (rowsPerSecond > 0 && !isDue()) {
            return InputStatus.NOTHING_AVAILABLE;
        }
        output.collect(rows.row(read.getInt(), read.getInt()));
        offset++;
        return InputStatus.MORE_AVAILABLE;
    }

    /** Whether the next row is due at the rate. The first one is due at the first call; a file gets this time. */
    private boolean isDue() throws IOException {
        if (began == 0) {
            Instant now = Instant.now();
            long nanoseconds = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
            Files.writeString(Path.of(begun, "begun-" + part), Long.toString(nanoseconds));
            began = System.nanoTime() - (long) (offset / rowsPerSecond * NANOSECONDS);
        }
        return System.nanoTime() - began >= offset / rowsPerSecond * NANOSECONDS;
    }

    /** Reads the next file; false if there is none for now. */
    private boolean fill() throws IOException {
        if (part >= 0 && file < files.length) {
            read = ByteBuffer.wrap(Files.readAllBytes(files[file])).order(ByteOrder.LITTLE_ENDIAN);
            file += parts;
            return true;
        }
        WordSplit next = waiting.poll();
        if (next == null) {
            return false;
        }
        part = next.part;
        offset = 0;
        for (file = part; file < files.length; file += parts) {
            long here = Files.size(files[file]) / WIDTH;
            if (offset + here > next.offset) {
                break;
            }
            offset += here;
        }
        read = ByteBuffer.allocate(0);
        if (file < files.length) {
            fill();
            read.position((int) (next.offset - offset) * WIDTH);
        }
        offset = next.offset;
        return true;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (read.hasRemaining() && rowsPerSecond > 0) {
            return CompletableFuture.runAsync(
                    () -> {}, CompletableFuture.delayedExecutor(LOOK_MILLISECONDS, TimeUnit.MILLISECONDS));
        }
        if (more.isDone() && waiting.isEmpty() && !isLast) {
            more = new CompletableFuture<>();
        }
        return more;
    }

    @Override
    public List<WordSplit> snapshotState(long checkpoint) {
        List<WordSplit> splits = new ArrayList<>(waiting);
        if (part >= 0) {
            splits.add(new WordSplit(part, offset));
        }
        return splits;
    }

    @Override
    public void close() {}
}
