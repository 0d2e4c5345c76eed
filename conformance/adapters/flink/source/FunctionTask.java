package barrierspec.flink;

//# from 1.14
import java.util.concurrent.CompletableFuture;
//# end
//# before 1.14
import java.util.concurrent.Future;
//# end
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.operators.StreamSource;
import org.apache.flink.streaming.runtime.tasks.SourceStreamTask;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;
//# from 2.0
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
//# end
//# before 2.0
import org.apache.flink.streaming.api.functions.source.SourceFunction;
//# end

/** Flink's task of a source function, whose answers to triggers are recorded. No constructor of it ever runs. */
final class FunctionTask
        extends SourceStreamTask<Object, SourceFunction<Object>, StreamSource<Object, SourceFunction<Object>>> {
    Triggers triggers;

    private FunctionTask(Environment never) throws Exception {
        super(never);
    }

    /** A mailbox whose default action is never run: the function reads in a thread of its own. */
    MailboxProcessor mailbox() {
        return new MailboxProcessor(controller -> {});
    }

    void start() throws Exception {
        init();
    }
//# from 1.14

    @Override
    public CompletableFuture<Boolean> triggerCheckpointAsync(CheckpointMetaData data, CheckpointOptions options) {
        return triggers.answers(data.getCheckpointId(), super.triggerCheckpointAsync(data, options));
    }
//# end
//# from 1.11 before 1.14

    @Override
    public Future<Boolean> triggerCheckpointAsync(CheckpointMetaData data, CheckpointOptions options) {
        return triggers.answersAtLast(data.getCheckpointId(), super.triggerCheckpointAsync(data, options));
    }
//# end
//# before 1.11

    @Override
    public Future<Boolean> triggerCheckpointAsync(CheckpointMetaData data, CheckpointOptions options, boolean ends) {
        return triggers.answersAtLast(data.getCheckpointId(), super.triggerCheckpointAsync(data, options, ends));
    }
//# end
}
