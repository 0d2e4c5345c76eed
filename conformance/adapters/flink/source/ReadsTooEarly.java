//# from 1.15
package barrierspec.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ExternallyInducedSourceReader;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;

/**
 * Shows in which order Flink's own mailbox loop reads on and begins a snapshot, when the trigger comes after the hook.
 *
 * <p>A run needs the jar of a release and the classes that `barrierspec flink fetch` compiles for it.
 */
public final class ReadsTooEarly {
    private final List<String> order = new ArrayList<>();
    private final ReaderTask task = Bare.of(ReaderTask.class);
    private final MailboxProcessor mailbox = task.mailbox();
    private final TaskManager manager = new TaskManager(task, new Effects());
    private Optional<Long> announced = Optional.of(1L);

    private ReadsTooEarly() {}

    public static void main(String[] args) throws Exception {
        System.out.println(String.join("\n", new ReadsTooEarly().run()));
    }

    private List<String> run() throws Exception {
        Effects begun = new Effects() {
            @Override
            void add(String kind, Object... fields) {
                order.add("the snapshot of checkpoint 1 begins");
                mailbox.suspend();
            }
        };
        task.triggers = new Triggers(begun);
        Surroundings.give(task, mailbox, task.triggers);
        ReaderSurroundings.give(task, Fakes.of(ExternallyInducedSourceReader.class, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "pollNext":
                    return read();
                case "isAvailable":
                    return CompletableFuture.completedFuture(null);
                case "shouldTriggerCheckpoint":
                    return hook();
                default:
                    return Fakes.nothing(method.getReturnType());
            }
        }));
        task.start();
        mailbox.runMailboxLoop();
        return order;
    }

    private Object read() {
        order.add("the source reads");
        return InputStatus.NOTHING_AVAILABLE;
    }

    /** The hook announces checkpoint 1, once, and puts the arrival of its trigger into the mailbox. */
    private Object hook() throws Exception {
        Optional<Long> once = announced;
        announced = Optional.empty();
        if (once.isPresent()) {
            order.add("the hook announces checkpoint 1");
            mailbox.getMainMailboxExecutor().execute(this::triggers, "the trigger arrives");
        }
        return once;
    }

    private void triggers() throws Exception {
        order.add("the trigger of checkpoint 1 arrives");
        manager.trigger(1, true);
    }
}
//# end
