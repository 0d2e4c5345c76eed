//# from 1.11
package barrierspec.flink;

import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.streaming.api.operators.SourceOperator;

/** What surrounds a reader in its task: an operator that has the reader, and reads. */
final class ReaderSurroundings {
    private ReaderSurroundings() {}

    static void give(ReaderTask task, SourceReader<?, ?> reader) {
        SourceOperator<?, ?> operator = Bare.of(SourceOperator.class);
        Reflect.set(operator, "sourceReader", reader);
        Reflect.set(operator, "currentMainOutput", Fakes.silent(ReaderOutput.class));
        setMetrics(operator);
        setReading(operator);
        beginsEmpty(task);
        Reflect.set(task, Surroundings.ofOperator(task), operator);
        Object chain = Fields.get(task, "operatorChain");
        String output = Fields.has(chain, "mainOperatorOutput") ? "mainOperatorOutput" : "chainEntryPoint";
        Reflect.set(chain, output, Fakes.silent(Reflect.type(chain, output)));
    }
//# end
//# from 1.14

    private static void setMetrics(SourceOperator<?, ?> operator) {
        Reflect.set(
                operator, "sourceMetricGroup",
                org.apache.flink.runtime.metrics.groups.InternalSourceReaderMetricGroup.wrap(
                        UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup()));
    }
//# end
//# from 1.11 before 1.14

    private static void setMetrics(SourceOperator<?, ?> operator) {
        Reflect.set(operator, "metrics", UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup());
    }
//# end
//# from 1.11

    /** The values with which a constructor begins, from 1.15 on. */
    private static void beginsEmpty(ReaderTask task) {
        if (Fields.has(task, "untriggeredCheckpoints")) {
            Reflect.set(task, "untriggeredCheckpoints", new TreeMap<>());
            Reflect.set(task, "triggeredCheckpoints", new TreeSet<>());
            Reflect.set(task, "waitForRPC", CompletableFuture.completedFuture(null));
        }
    }

    /** From 1.14 on the operator has a mode, and a helper that knows whether the reader is available. */
    private static void setReading(SourceOperator<?, ?> operator) {
        if (!Fields.has(operator, "operatingMode")) {
            return;
        }
        for (Object mode : Reflect.type(operator, "operatingMode").getEnumConstants()) {
            if (mode.toString().equals("READING")) {
                Reflect.set(operator, "operatingMode", mode);
            }
        }
        if (Fields.has(operator, "availabilityHelper")) {
            Reflect.set(
                    operator, "availabilityHelper",
                    Reflect.make(Reflect.type(operator, "availabilityHelper"), operator));
        }
    }
}
//# end
