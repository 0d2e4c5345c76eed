//# from 1.11
package barrierspec.flink;

//# end
//# from 1.14
import java.util.concurrent.CompletableFuture;
//# end
//# from 1.11 before 1.14
import java.util.concurrent.Future;
//# end
//# from 1.11
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.runtime.tasks.SourceOperatorStreamTask;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;

/** Flink's task of a reader, whose answers to triggers are recorded. No constructor of it ever runs. */
final class ReaderTask extends SourceOperatorStreamTask<Object> {
    Triggers triggers;

    private ReaderTask(Environment never) throws Exception {
        super(never);
    }

    /** A mailbox whose default action is the task's own. */
    MailboxProcessor mailbox() {
        return new MailboxProcessor(this::processInput);
    }

    void start() throws Exception {
        init();
    }
//# end
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
//# from 1.11
}
//# end
