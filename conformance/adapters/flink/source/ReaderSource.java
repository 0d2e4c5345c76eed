//# from 1.11
package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.flink.api.connector.source.ExternallyInducedSourceReader;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/**
 * A `SourceOperatorStreamTask` with its input, externally induced or not. The harness stands in for the reader.
 *
 * <p>After each event the mail is done, and then the task may read once: whether it polls the reader is observed.
 */
final class ReaderSource extends OneTask {
    private final ReaderTask task;
    private final Effects effects;
    /** The checkpoint that the reader is about to announce. */
    private Optional<Long> announced = Optional.empty();
    private boolean polled;
    private boolean reads = true;

    ReaderSource(Effects effects, boolean induced) {
        this(Bare.of(ReaderTask.class), effects, induced);
    }

    private ReaderSource(ReaderTask task, Effects effects, boolean induced) {
        super(task, task.mailbox(), effects);
        this.task = task;
        this.effects = effects;
        task.triggers = triggers;
        ReaderSurroundings.give(task, reader(induced));
        try {
            task.start();
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
    }

    private SourceReader<?, ?> reader(boolean induced) {
        Class<? extends SourceReader> type = induced ? ExternallyInducedSourceReader.class : SourceReader.class;
        return Fakes.of(type, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "pollNext":
                    polled = true;
                    return InputStatus.NOTHING_AVAILABLE;
                case "isAvailable":
                    return CompletableFuture.completedFuture(null);
                case "shouldTriggerCheckpoint":
                    Optional<Long> once = announced;
                    announced = Optional.empty();
                    return once;
                default:
                    return Fakes.nothing(method.getReturnType());
            }
        });
    }

    /** The input asks the reader while it reads. While it does not, the harness calls the hook of the input. */
    @Override
    @SuppressWarnings("unchecked")
    public void induce(long checkpoint) throws Exception {
        triggers.next();
        if (reads) {
            announced = Optional.of(checkpoint);
            poll();
            return;
        }
        Object input = Fields.get(Fields.get(task, "inputProcessor"), "input");
        ((Consumer<Long>) Fields.get(input, "checkpointTriggeringHook")).accept(checkpoint);
    }

    @Override
    public void settle() throws Exception {
        poll();
        triggers.settle();
        if (polled != reads) {
            effects.add(polled ? "go_on_reading" : "stop_reading");
        }
        reads = polled;
    }

    /** Does the mail, one at each step. The step after the last one is the task's default action, which reads. */
    private void poll() throws Exception {
        polled = false;
        boolean more = true;
        while (more && !polled) {
            more = mailbox.runMailboxStep();
        }
    }

    @Override
    public void describe(Map<String, Object> state) {
        state.put("running", Fields.get(task, "isRunning"));
        state.put("told", Collections.emptyList());
        state.put("ahead", Collections.emptyList());
        if (Fields.has(task, "untriggeredCheckpoints")) {  // from 1.15 on
            state.put("told", new ArrayList<>(((Map<?, ?>) Fields.get(task, "untriggeredCheckpoints")).keySet()));
            state.put("ahead", new ArrayList<>((Collection<?>) Fields.get(task, "triggeredCheckpoints")));
        }
        state.put("reads", reads);
    }
}
//# end
