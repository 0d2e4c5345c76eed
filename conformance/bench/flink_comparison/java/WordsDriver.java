package barrierspec.words;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.type.TypeReference;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Reads an order in JSON from each line, runs its job, and answers with a line. One process does all runs, so
 * that Java has compiled the code before a run is measured.
 */
public final class WordsDriver {
    private static final ObjectMapper JSON = new ObjectMapper();

    private WordsDriver() {}

    /** Answers orders until the input ends. */
    public static void main(String[] words) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err); // output of Flink must not mix with the answers
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            JsonNode order = JSON.readTree(line);
            Map<String, Object> answer;
            try {
                long began = System.nanoTime();
                if (order.has("api")) {
                    run(order);
                }
                answer = Map.of("seconds", (System.nanoTime() - began) / 1e9);
            } catch (Exception failed) {
                failed.printStackTrace();
                answer = Map.of("failed", failed.toString());
            }
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
    }

    private static void run(JsonNode order) throws Exception {
        Map<String, String> settings =
                JSON.convertValue(order.get("settings"), new TypeReference<Map<String, String>>() {});
        int parts = order.get("parts").asInt();
        double rate = order.get("rows_per_second").asDouble();
        String source = order.get("source").asText();
        String output = order.get("output").asText();
        String begun = order.get("begun").asText();
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(parts, Configuration.fromMap(settings));
        if (order.get("api").asText().equals("sql")) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(env);
            tables.executeSql("CREATE TABLE words (word STRING NOT NULL, `value` BIGINT NOT NULL) WITH "
                    + "('connector' = 'words', 'folder' = '" + source + "', 'parts' = '" + parts
                    + "', 'rows-per-second' = '" + rate + "', 'begun' = '" + begun + "')");
            tables.executeSql("CREATE TABLE updates (word STRING NOT NULL, rows_of BIGINT NOT NULL, "
                    + "total BIGINT NOT NULL, PRIMARY KEY (word) NOT ENFORCED) WITH "
                    + "('connector' = 'words', 'folder' = '" + output + "')");
            tables.executeSql(
                            "INSERT INTO updates SELECT word, COUNT(*), SUM(`value`) FROM words GROUP BY word")
                    .await();
        } else {
            env.fromSource(
                            new WordSource<>(source, parts, rate, begun, new Rows.OfStream()),
                            WatermarkStrategy.noWatermarks(), "words", Types.TUPLE(Types.STRING, Types.LONG))
                    .keyBy(row -> row.f0, Types.STRING)
                    .process(new Totals())
                    .returns(Types.TUPLE(Types.STRING, Types.LONG, Types.LONG))
                    .sinkTo(new NewestUpdates<>(output, new Totals.OfTuple()));
            env.execute("words");
        }
    }
}
