package barrierspec.flink;

import java.util.Collections;
import java.util.Map;
//# from 1.14
import org.apache.flink.api.common.operators.MailboxExecutor;
//# end
//# before 1.14
import org.apache.flink.streaming.api.operators.MailboxExecutor;
//# end
import org.apache.flink.streaming.api.checkpoint.ExternallyInducedSource;
import org.apache.flink.streaming.api.operators.StreamSource;
//# from 2.0
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
//# end
//# before 2.0
import org.apache.flink.streaming.api.functions.source.SourceFunction;
//# end

/**
 * A `SourceStreamTask`, externally induced or not. The harness stands in for the function.
 *
 * <p>A function reads in a thread of its own, and calls its hook there. The thread of this harness has the mailbox.
 */
final class FunctionSource extends OneTask {
    private static final long MILLISECONDS = 30_000;
    private final FunctionTask task;
    private ExternallyInducedSource.CheckpointTrigger hook;

    FunctionSource(Effects effects, boolean induced) {
        this(Bare.of(FunctionTask.class), effects, induced);
    }

    private FunctionSource(FunctionTask task, Effects effects, boolean induced) {
        super(task, task.mailbox(), effects);
        this.task = task;
        task.triggers = triggers;
        if (Fields.has(task, "lock")) {
            Reflect.set(task, "lock", new Object());
        }
        StreamSource<?, ?> operator = Bare.of(StreamSource.class);
        Reflect.set(operator, "userFunction", function(induced));
        Reflect.set(task, Surroundings.ofOperator(task), operator);
        try {
            task.start();
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
    }

    private Object function(boolean induced) {
        Class<?> type = induced ? ExternallyInducedSource.class : SourceFunction.class;
        return Fakes.of(type, (proxy, method, arguments) -> {
            if (method.getName().equals("setCheckpointTrigger")) {
                hook = (ExternallyInducedSource.CheckpointTrigger) arguments[0];
            }
            return Fakes.nothing(method.getReturnType());
        });
    }

    /** The source's thread calls the hook, which waits until the thread of the mailbox has begun the snapshot. */
    @Override
    public void induce(long checkpoint) throws Exception {
        triggers.next();
        MailboxExecutor executor = mailbox.getMainMailboxExecutor();
        HookCall call = new HookCall(checkpoint, executor);
        call.start();
        while (!call.hasEnded) {
            executor.yield();
        }
        call.join(MILLISECONDS);
        if (call.thrown != null) {
            throw call.thrown;
        }
    }

    @Override
    public void settle() throws Exception {
        mailbox.drain();
        triggers.settle();
    }

    /** The task has no fields for checkpoints, and never stops its function. */
    @Override
    public void describe(Map<String, Object> state) {
        state.put("running", Fields.get(task, "isRunning"));
        state.put("told", Collections.emptyList());
        state.put("ahead", Collections.emptyList());
        state.put("reads", true);
    }

    /** One call of the hook. It ends with a mail, for which the thread of the mailbox waits. */
    private final class HookCall extends Thread {
        private final long checkpoint;
        private final MailboxExecutor executor;
        /** Set in the thread of the mailbox. */
        private boolean hasEnded;
        private volatile Exception thrown;

        HookCall(long checkpoint, MailboxExecutor executor) {
            super("source function");
            this.checkpoint = checkpoint;
            this.executor = executor;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                hook.triggerCheckpoint(checkpoint);
            } catch (Exception flinks) {
                thrown = flinks;
            } finally {
                executor.execute(() -> hasEnded = true, "the hook has returned");
            }
        }
    }
}
