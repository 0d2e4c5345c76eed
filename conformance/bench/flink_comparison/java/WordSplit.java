package barrierspec.words;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** A part of the files, and the number of its rows that were read: the offset that a checkpoint holds. */
public final class WordSplit implements SourceSplit, Serializable {
    final int part;
    final long offset;

    WordSplit(int part, long offset) {
        this.part = part;
        this.offset = offset;
    }

    @Override
    public String splitId() {
        return Integer.toString(part);
    }

    /** Writes a split as two decimal numbers. */
    static final class Serializer implements SimpleVersionedSerializer<WordSplit>, Serializable {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(WordSplit split) {
            return (split.part + ":" + split.offset).getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public WordSplit deserialize(int version, byte[] bytes) {
            String[] numbers = new String(bytes, StandardCharsets.US_ASCII).split(":");
            return new WordSplit(Integer.parseInt(numbers[0]), Long.parseLong(numbers[1]));
        }
    }

    /** Writes a set of parts, the bits of a number, as a decimal number. */
    static final class SetSerializer implements SimpleVersionedSerializer<Long>, Serializable {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Long set) {
            return set.toString().getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public Long deserialize(int version, byte[] bytes) {
            return Long.parseLong(new String(bytes, StandardCharsets.US_ASCII));
        }
    }
}
