package barrierspec.engines;

import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Reads the state of each key from a savepoint of the job, in this process.
 *
 * <p>It is a job that restores the savepoint and has one operator of the same `uid`, which gets each key once
 * and writes a line `key,records,total` into a file. A key without state has no line.
 */
public final class StateReader {
    private StateReader() {}

    /** The arguments: the folder of the savepoint, the number of keys, the file. */
    public static void main(String[] words) throws Exception {
        Map<String, String> settings = new HashMap<>();
        for (String prefix : new String[] {"execution.savepoint", "execution.state-recovery"}) {
            settings.put(prefix + ".path", words[0]); // from 2.0 on Flink reads the second prefix
            settings.put(prefix + ".ignore-unclaimed-state", "true"); // the state of source and sink
        }
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(1, Configuration.fromMap(settings));
        env.fromSequence(0, Long.parseLong(words[1]) - 1)
                .keyBy(Long::intValue, Types.INT)
                .process(new Reading(words[2]))
                .returns(Types.STRING)
                .uid("counting");
        env.execute("barrierspec state");
    }

    private static final class Reading extends KeyedProcessFunction<Integer, Long, String> {
        private final String file;

        Reading(String file) {
            this.file = file;
        }

        @Override
        public void processElement(Long key, Context context, Collector<String> out) throws Exception {
            Tuple2<Long, Long> totals =
                    getRuntimeContext().getState(Counting.totals()).value();
            if (totals != null) {
                String line = key + "," + totals.f0 + "," + totals.f1 + "\n";
                Files.write(
                        Paths.get(file), line.getBytes(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        }
    }
}
