package barrierspec.words;

import java.io.Serializable;
import java.util.List;
import java.util.TreeMap;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The rows of a folder of binary files, in as many parts as there are subtasks: part p reads the files p,
 * p + parts, and so on. A row in a file is the number of its word and its value, four bytes each.
 *
 * <p>The state of the enumerator is the set of parts that it has assigned, as bits of a number.
 */
public final class WordSource<T> implements Source<T, WordSplit, Long>, Serializable {
    private final String folder;
    private final int parts;
    private final double rowsPerSecond;
    private final String begun;
    private final Rows<T> rows;

    /**
     * `rowsPerSecond`: of all parts together; 0: as fast as possible. `begun`: with a rate, the folder in
     * which each part writes a file with the time at which its first row was due, in nanoseconds.
     */
    public WordSource(String folder, int parts, double rowsPerSecond, String begun, Rows<T> rows) {
        this.folder = folder;
        this.parts = parts;
        this.rowsPerSecond = rowsPerSecond;
        this.begun = begun;
        this.rows = rows;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<T, WordSplit> createReader(SourceReaderContext context) throws Exception {
        return new WordReader<>(folder, parts, rowsPerSecond / parts, begun, rows);
    }

    @Override
    public SplitEnumerator<WordSplit, Long> createEnumerator(SplitEnumeratorContext<WordSplit> context) {
        return new Enumerator(context, 0L);
    }

    @Override
    public SplitEnumerator<WordSplit, Long> restoreEnumerator(
            SplitEnumeratorContext<WordSplit> context, Long assigned) {
        return new Enumerator(context, assigned);
    }

    @Override
    public SimpleVersionedSerializer<WordSplit> getSplitSerializer() {
        return new WordSplit.Serializer();
    }

    @Override
    public SimpleVersionedSerializer<Long> getEnumeratorCheckpointSerializer() {
        return new WordSplit.SetSerializer();
    }

    /** Assigns part p to reader p, and notifies each reader that there are no more. */
    private final class Enumerator implements SplitEnumerator<WordSplit, Long> {
        private final SplitEnumeratorContext<WordSplit> context;
        private final TreeMap<Integer, WordSplit> waiting = new TreeMap<>();
        private long assigned;

        Enumerator(SplitEnumeratorContext<WordSplit> context, long assigned) {
            this.context = context;
            this.assigned = assigned;
            for (int part = 0; part < parts; part++) {
                if ((assigned & 1L << part) == 0) {
                    waiting.put(part, new WordSplit(part, 0));
                }
            }
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<WordSplit> splits, int subtask) {
            for (WordSplit split : splits) {
                waiting.put(split.part, split);
                assigned &= ~(1L << split.part);
            }
        }

        @Override
        public void addReader(int subtask) {
            for (int part = subtask; part < parts; part += context.currentParallelism()) {
                WordSplit split = waiting.remove(part);
                if (split != null) {
                    assigned |= 1L << part;
                    context.assignSplit(split, subtask);
                }
            }
            context.signalNoMoreSplits(subtask);
        }

        @Override
        public Long snapshotState(long checkpoint) {
            return assigned;
        }

        @Override
        public void close() {}
    }
}
