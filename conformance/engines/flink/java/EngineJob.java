package barrierspec.engines;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
//# with org.apache.flink.connector.file.sink.FileSink
import org.apache.flink.connector.file.sink.FileSink;
//# end
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.RollingPolicy;
//# without org.apache.flink.connector.file.sink.FileSink
import org.apache.flink.streaming.api.functions.sink.filesystem.StreamingFileSink;
//# end
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/** The job of the campaigns: lanes of records, a count and a sum by key, committed rows in files. */
public final class EngineJob {
    private EngineJob() {}

    /** The arguments: pairs of a name and its value. */
    public static void main(String[] words) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (int at = 0; at + 1 < words.length; at += 2) {
            options.put(words[at], words[at + 1]);
        }
        int lanes = Integer.parseInt(options.get("--lane-count"));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<String> rows = env.fromSource(
                        new LaneSource(options.get("--lanes"), lanes, options.get("--source")),
                        WatermarkStrategy.noWatermarks(), "lanes", Types.STRING)
                .uid("lanes")
                .keyBy(line -> Integer.parseInt(line.split(",")[2]), Types.INT)
                .process(new Counting(
                        options.get("--progress"),
                        options.get("--declined"),
                        Long.parseLong(options.get("--copies")),
                        Long.parseLong(options.get("--pause")),
                        Long.parseLong(options.get("--slow"))))
                .returns(Types.STRING)
                .uid("counting");
        sink(rows, options.get("--sink"), options.get("--output"), options.get("--table"));
        env.execute("barrierspec");
    }

    private static void sink(DataStream<String> rows, String kind, String folder, String table) {
        switch (kind) {
            case "files":
                files(rows, folder, OnCheckpointRollingPolicy.<String, String>build());
                break;
            case "long-files":
                files(rows, folder, new RollOften());
                break;
            case "two-phase":
            case "early":
                rows.addSink(new TransactionalFiles(folder, kind.equals("early"))).uid("sink");
                break;
            case "postgres":
                rows.addSink(new TransactionalTable(table)).uid("sink");
                break;
            default:
                throw new IllegalArgumentException(
                        "expected files, long-files, two-phase, early or postgres, got " + kind);
        }
    }

    //# with org.apache.flink.connector.file.sink.FileSink
    private static void files(DataStream<String> rows, String folder, RollingPolicy<String, String> policy) {
        rows.sinkTo(FileSink.forRowFormat(new Path("file://" + folder), new SimpleStringEncoder<String>("UTF-8"))
                        .withBucketAssigner(new BasePathBucketAssigner<>())
                        .withBucketCheckInterval(200)
                        .withRollingPolicy(policy)
                        .build())
                .uid("sink");
    }
    //# end

    //# without org.apache.flink.connector.file.sink.FileSink
    private static void files(DataStream<String> rows, String folder, RollingPolicy<String, String> policy) {
        rows.addSink(StreamingFileSink.forRowFormat(
                                new Path("file://" + folder), new SimpleStringEncoder<String>("UTF-8"))
                        .withBucketAssigner(new BasePathBucketAssigner<>())
                        .withBucketCheckInterval(200)
                        .withRollingPolicy(policy)
                        .build())
                .uid("sink");
    }
    //# end
}
