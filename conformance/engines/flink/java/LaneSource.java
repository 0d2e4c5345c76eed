package barrierspec.engines;

import java.io.File;
import java.io.Serializable;
import java.util.ArrayList;
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
 * Lanes of records that grow, like the partitions of a log: each file of the folder is a split.
 *
 * <p>The state of the enumerator is the set of lanes that it has assigned, as bits of a number.
 */
public final class LaneSource implements Source<String, LaneSplit, Long>, Serializable {
    private final String folder;
    private final int lanes;
    private final boolean forgetful;
    private final boolean uneven;

    /**
     * The kinds: `lanes`; `forgetful`, a planted defect, which after a restore continues at the end of its
     * lanes; `uneven`, where one reader has one lane and another reader has all others.
     */
    public LaneSource(String folder, int lanes, String kind) {
        this.folder = folder;
        this.lanes = lanes;
        this.forgetful = kind.equals("forgetful");
        this.uneven = kind.equals("uneven");
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<String, LaneSplit> createReader(SourceReaderContext context) {
        return new LaneReader(new File(folder), forgetful);
    }

    @Override
    public SplitEnumerator<LaneSplit, Long> createEnumerator(SplitEnumeratorContext<LaneSplit> context) {
        return new Enumerator(context, 0L);
    }

    @Override
    public SplitEnumerator<LaneSplit, Long> restoreEnumerator(
            SplitEnumeratorContext<LaneSplit> context, Long assigned) {
        return new Enumerator(context, assigned);
    }

    @Override
    public SimpleVersionedSerializer<LaneSplit> getSplitSerializer() {
        return new LaneSplit.Serializer();
    }

    @Override
    public SimpleVersionedSerializer<Long> getEnumeratorCheckpointSerializer() {
        return new LaneSplit.NumberSerializer();
    }

    /** Assigns the lanes, in turn, to the readers that register. */
    private final class Enumerator implements SplitEnumerator<LaneSplit, Long> {
        private final SplitEnumeratorContext<LaneSplit> context;
        private final TreeMap<Integer, LaneSplit> waiting = new TreeMap<>();
        private long assigned;

        Enumerator(SplitEnumeratorContext<LaneSplit> context, long assigned) {
            this.context = context;
            this.assigned = assigned;
            for (int lane = 0; lane < lanes; lane++) {
                if ((assigned & 1L << lane) == 0) {
                    waiting.put(lane, new LaneSplit(lane, 0));
                }
            }
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<LaneSplit> splits, int subtask) {
            for (LaneSplit split : splits) {
                waiting.put(split.lane, split);
                assigned &= ~(1L << split.lane);
            }
        }

        @Override
        public void addReader(int subtask) {
            for (LaneSplit split : new ArrayList<>(waiting.values())) {
                int reader = (uneven ? Math.min(split.lane, 1) : split.lane) % context.currentParallelism();
                if (context.registeredReaders().containsKey(reader)) {
                    waiting.remove(split.lane);
                    assigned |= 1L << split.lane;
                    context.assignSplit(split, reader);
                }
            }
        }

        @Override
        public Long snapshotState(long checkpoint) {
            return assigned;
        }

        @Override
        public void close() {}
    }
}
