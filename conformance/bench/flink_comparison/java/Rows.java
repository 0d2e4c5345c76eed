package barrierspec.words;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryStringData;

/** Makes the rows of an API. It prepares the words once, so that each row needs only one small object. */
public interface Rows<T> extends Serializable {
    /** Prepares the words; called once in each reader. */
    void open(List<String> words);

    /** The row with this value, and with the word of this number. */
    T row(int word, long value);

    /** The rows of SQL. */
    final class OfTable implements Rows<RowData> {
        private transient BinaryStringData[] words;

        @Override
        public void open(List<String> all) {
            words = all.stream()
                    .map(word -> BinaryStringData.fromBytes(word.getBytes(StandardCharsets.UTF_8)))
                    .toArray(BinaryStringData[]::new);
        }

        @Override
        public RowData row(int word, long value) {
            return GenericRowData.of(words[word], value);
        }
    }

    /** The rows of DataStream, in Java and in Python. */
    final class OfStream implements Rows<Tuple2<String, Long>> {
        private transient String[] words;

        @Override
        public void open(List<String> all) {
            words = all.toArray(new String[0]);
        }

        @Override
        public Tuple2<String, Long> row(int word, long value) {
            return Tuple2.of(words[word], value);
        }
    }
}
