package barrierspec.engines;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Collections;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Counts and sums the records of each key, and emits one row for each record.
 *
 * <p>Each processed record adds a byte to a file of its process, by which the campaign sees that the job runs.
 * While the file `declined` exists, each checkpoint of this function fails.
 */
final class Counting extends KeyedProcessFunction<Integer, String, String> implements CheckpointedFunction {
    private static OutputStream progress;

    private final String folder;
    private final long pauseNanos;
    private final long slowNanos;
    private final String declined;
    private final long copies;
    private transient ValueState<Tuple2<Long, Long>> state;
    private transient ListState<String> refusable;

    /**
     * A pause follows each record. It is longer in the second of two subtasks, so that barriers wait there.
     * `copies` above 1 is the planted defect: the state counts each record `copies` times, and no row shows it.
     */
    Counting(String folder, String declined, long copies, long pauseNanos, long slowNanos) {
        this.folder = folder;
        this.declined = declined;
        this.copies = copies;
        this.pauseNanos = pauseNanos;
        this.slowNanos = slowNanos;
    }

    /** The state of a key. */
    static ValueStateDescriptor<Tuple2<Long, Long>> totals() {
        return new ValueStateDescriptor<>("totals", Types.TUPLE(Types.LONG, Types.LONG));
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        refusable = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("refusable", RefusableSerializer.INSTANCE));
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        refusable.update(Collections.singletonList(declined));
    }

    @Override
    public void processElement(String line, Context context, Collector<String> out) throws Exception {
        if (state == null) {
            state = getRuntimeContext().getState(totals());
        }
        Tuple2<Long, Long> before = state.value();
        String[] fields = line.split(",");
        long place = (before == null ? 0 : before.f0 / copies) + 1;
        long total = (before == null ? 0 : before.f1 / copies) + Long.parseLong(fields[3]);
        state.update(Tuple2.of(place * copies, total * copies));
        out.collect(fields[2] + "," + fields[0] + "," + fields[1] + "," + place + "," + total);
        processed(folder);
        boolean slow = KeyGroupRangeAssignment.assignKeyToParallelOperator(context.getCurrentKey(), 128, 2) == 1;
        LockSupport.parkNanos(slow ? Math.max(slowNanos, pauseNanos) : pauseNanos);
    }

    private static synchronized void processed(String folder) throws IOException {
        if (progress == null) {
            progress = new FileOutputStream(folder + "/" + ProcessHandle.current().pid(), true);
        }
        progress.write('.');
    }
}
