package barrierspec.words;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Counts the rows of each word and sums their values; emits an update for each row. */
public final class Totals extends KeyedProcessFunction<String, Tuple2<String, Long>, Tuple3<String, Long, Long>> {
    private transient ValueState<Tuple2<Long, Long>> totals;

    @Override
    public void open(OpenContext context) {
        totals = getRuntimeContext()
                .getState(new ValueStateDescriptor<>("totals", Types.TUPLE(Types.LONG, Types.LONG)));
    }

    @Override
    public void processElement(
            Tuple2<String, Long> row, Context context, Collector<Tuple3<String, Long, Long>> output)
            throws Exception {
        Tuple2<Long, Long> before = totals.value();
        long count = before == null ? 1 : before.f0 + 1;
        long total = before == null ? row.f1 : before.f1 + row.f1;
        totals.update(Tuple2.of(count, total));
        output.collect(Tuple3.of(row.f0, count, total));
    }

    /** Reads the fields of an update. */
    public static final class OfTuple implements NewestUpdates.Update<Tuple3<String, Long, Long>> {
        @Override
        public Object word(Tuple3<String, Long, Long> row) {
            return row.f0;
        }

        @Override
        public long count(Tuple3<String, Long, Long> row) {
            return row.f1;
        }

        @Override
        public long total(Tuple3<String, Long, Long> row) {
            return row.f2;
        }
    }
}
