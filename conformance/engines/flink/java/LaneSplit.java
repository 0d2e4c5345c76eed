package barrierspec.engines;

import java.io.Serializable;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** A lane and the number of its records that were read: the offset that a checkpoint holds. */
final class LaneSplit implements SourceSplit, Serializable {
    final int lane;
    final int offset;

    LaneSplit(int lane, int offset) {
        this.lane = lane;
        this.offset = offset;
    }

    @Override
    public String splitId() {
        return Integer.toString(lane);
    }

    /** Writes a split as two decimal numbers. */
    static final class Serializer implements SimpleVersionedSerializer<LaneSplit>, Serializable {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(LaneSplit split) {
            return (split.lane + ":" + split.offset).getBytes();
        }

        @Override
        public LaneSplit deserialize(int version, byte[] bytes) {
            String[] numbers = new String(bytes).split(":");
            return new LaneSplit(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        }
    }

    /** Writes the enumerator's state as a decimal number. */
    static final class NumberSerializer implements SimpleVersionedSerializer<Long>, Serializable {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Long number) {
            return number.toString().getBytes();
        }

        @Override
        public Long deserialize(int version, byte[] bytes) {
            return Long.parseLong(new String(bytes));
        }
    }
}
