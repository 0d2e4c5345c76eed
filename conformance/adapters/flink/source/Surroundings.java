package barrierspec.flink;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.AvailabilityProvider;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterDelegate;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.runtime.tasks.StreamTask;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;

/** Sets the fields of a task whose constructor never ran. */
final class Surroundings {
    private Surroundings() {}

    /** Sets the fields that the task reads at a trigger, and marks it as running. */
    static void give(StreamTask<?, ?> task, MailboxProcessor mailbox, Triggers triggers) {
        Reflect.set(task, "environment", environment());
        Reflect.set(task, "mailboxProcessor", mailbox);
        Reflect.set(task, "configuration", new StreamConfig(new Configuration()));
        Reflect.set(task, "operatorChain", Chain.of(new Operators(barriers(triggers))));
        Reflect.set(task, "recordWriter", writer(triggers));
        giveSteps(task, mailbox, triggers);
        if (Fields.has(task, "throughputCalculator")) {  // only in 1.14
            Reflect.set(task, "throughputCalculator", Bare.of(Reflect.type(task, "throughputCalculator")));
        }
        if (Fields.has(task, "changelogWriterAvailabilityProvider")) {  // 1.15.0 calls it without a check for null
            Reflect.set(task, "changelogWriterAvailabilityProvider", available());
        }
        Reflect.set(task, "isRunning", true);
    }

    private static Object available() {
        return Fakes.of(AvailabilityProvider.class, (proxy, method, arguments) ->
                method.getReturnType() == boolean.class ? (Object) true : AvailabilityProvider.AVAILABLE);
    }

    /** The field of the operator that begins the chain. */
    static String ofOperator(StreamTask<?, ?> task) {
        return Fields.has(task, "mainOperator") ? "mainOperator" : "headOperator";
    }

    /** Up to 1.10 the task takes its snapshot itself. It then begins with the barrier. */
    private static Effects barriers(Triggers triggers) {
        return new Effects() {
            @Override
            void add(String kind, Object... fields) {
                if (kind.equals("broadcast_barrier")) {
                    triggers.begins((Long) fields[1]);
                }
            }
        };
    }
//# from 1.11

    private static void giveSteps(StreamTask<?, ?> task, MailboxProcessor mailbox, Triggers triggers) {
        Reflect.set(task, "mainMailboxExecutor", mailbox.getMainMailboxExecutor());
        Reflect.set(task, "actionExecutor", StreamTaskActionExecutor.IMMEDIATE);
        Reflect.set(task, "subtaskCheckpointCoordinator", steps(task, triggers));
    }
//# end
//# before 1.11

    private static void giveSteps(StreamTask<?, ?> task, MailboxProcessor mailbox, Triggers triggers) {
        Reflect.set(task, "actionExecutor", StreamTaskActionExecutor.synchronizedExecutor());
        Reflect.set(task, "cancelables", new org.apache.flink.core.fs.CloseableRegistry());
        Reflect.set(task, "asyncOperationsThreadPool", Fakes.silent(java.util.concurrent.ExecutorService.class));
        Class<?> storage = Reflect.type(task, "checkpointStorage");
        Reflect.set(task, "checkpointStorage", Fakes.of(storage, (proxy, method, arguments) ->
                method.getReturnType().isInterface()
                        ? Fakes.silent(method.getReturnType()) : Fakes.nothing(method.getReturnType())));
    }
//# end

    /** What takes the snapshot of a task that runs. */
    private static Object steps(StreamTask<?, ?> task, Triggers triggers) {
        Class<?> type = Reflect.type(task, "subtaskCheckpointCoordinator");
        return Fakes.of(type, (proxy, method, arguments) -> {
            if (method.getName().equals("checkpointState")) {
                triggers.begins(((CheckpointMetaData) arguments[0]).getCheckpointId());
            }
            return Fakes.nothing(method.getReturnType());
        });
    }

    /** A snapshot of a task that does not run begins with a cancellation, which goes to the writer. */
    private static Object writer(Triggers triggers) {
        return Fakes.of(RecordWriterDelegate.class, (proxy, method, arguments) -> {
            if (method.getName().equals("broadcastEvent") && arguments[0] instanceof CancelCheckpointMarker) {
                triggers.begins(((CancelCheckpointMarker) arguments[0]).getCheckpointId());
            }
            return method.getName().equals("isAvailable") ? (Object) true : Fakes.nothing(method.getReturnType());
        });
    }

    /** The declines of a snapshot that has begun go nowhere: they are effects of the component `subtask`. */
    private static Environment environment() {
        return Fakes.of(Environment.class, (proxy, method, arguments) -> TaskParts.answer(method));
    }
}
