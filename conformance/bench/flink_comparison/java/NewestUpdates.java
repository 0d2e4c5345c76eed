package barrierspec.words;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A two-phase-commit sink. With a checkpoint, each subtask commits a file with the newest update of each word
 * that has changed. A pre-commit writes and syncs the file under a hidden name, a commit renames it.
 */
public final class NewestUpdates<T> implements Sink<T>, SupportsCommitter<String>, Serializable {
    private final String folder;
    private final Update<T> update;

    /** Reads the fields of an update. */
    public interface Update<T> extends Serializable {
        /** The word, as a key for a lookup; the object may change after the call. */
        Object word(T row);

        /** A key with the same word, which does not change. */
        default Object kept(Object word) {
            return word;
        }

        /** The number of rows of the word. */
        long count(T row);

        /** The sum of their values. */
        long total(T row);
    }

    public NewestUpdates(String folder, Update<T> update) {
        this.folder = folder;
        this.update = update;
    }

    @Override
    public SinkWriter<T> createWriter(WriterInitContext context) throws IOException {
        Files.createDirectories(Path.of(folder));
        return new Writer();
    }

    @Override
    public Committer<String> createCommitter(CommitterInitContext context) {
        return new Renaming();
    }

    @Override
    public SimpleVersionedSerializer<String> getCommittableSerializer() {
        return new NameSerializer();
    }

    private final class Writer implements CommittingSinkWriter<T, String> {
        private final Map<Object, long[]> newest = new HashMap<>();

        @Override
        public void write(T row, Context context) {
            Object word = update.word(row);
            long[] found = newest.get(word);
            if (found == null) {
                newest.put(update.kept(word), new long[] {update.count(row), update.total(row)});
            } else {
                found[0] = update.count(row);
                found[1] = update.total(row);
            }
        }

        @Override
        public void flush(boolean endOfInput) {}

        @Override
        public Collection<String> prepareCommit() throws IOException {
            if (newest.isEmpty()) {
                return List.of();
            }
            StringBuilder text = new StringBuilder();
            for (Map.Entry<Object, long[]> one : newest.entrySet()) {
                long[] numbers = one.getValue();
                text.append(one.getKey()).append(',').append(numbers[0]).append(',').append(numbers[1]);
                text.append('\n');
            }
            newest.clear();
            String name = UUID.randomUUID() + ".csv";
            try (FileChannel file = FileChannel.open(
                    Path.of(folder, "." + name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    file.write(bytes);
                }
                file.force(true);
            }
            return List.of(name);
        }

        @Override
        public void close() {}
    }

    private final class Renaming implements Committer<String> {
        @Override
        public void commit(Collection<CommitRequest<String>> requests) throws IOException {
            for (CommitRequest<String> one : requests) {
                Path hidden = Path.of(folder, "." + one.getCommittable());
                if (Files.exists(hidden)) { // otherwise it was committed before a restore
                    Files.move(hidden, Path.of(folder, one.getCommittable()), StandardCopyOption.ATOMIC_MOVE);
                }
            }
        }

        @Override
        public void close() {}
    }

    /** Writes the name of a file as UTF-8. */
    private static final class NameSerializer implements SimpleVersionedSerializer<String>, Serializable {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(String name) {
            return name.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String deserialize(int version, byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
