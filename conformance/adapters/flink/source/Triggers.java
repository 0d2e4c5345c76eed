package barrierspec.flink;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** Records how a task answers triggers: its snapshot begins, or it only answers whether it runs. */
final class Triggers {
    private final Effects effects;
    /** Whether a snapshot has begun since the last event. */
    private boolean begun;
    private long triggered;
    /** The answer of a release that returns no CompletableFuture, until it is read. */
    private Future<Boolean> answer;

    Triggers(Effects effects) {
        this.effects = effects;
    }

    /** The next event arrives. */
    void next() {
        begun = false;
    }

    /** The snapshot of this checkpoint begins. */
    void begins(long checkpoint) {
        begun = true;
        effects.add("trigger", "checkpoint", checkpoint);
    }

    /** The answer of the task. It is recorded before `Task` receives it. */
    CompletableFuture<Boolean> answers(long checkpoint, CompletableFuture<Boolean> accepts) {
        return accepts.thenApply(value -> {
            answered(checkpoint, value);
            return value;
        });
    }

    /** Keeps the answer until the mail is done: up to 1.13 no other class reads it. */
    <T extends Future<Boolean>> T answersAtLast(long checkpoint, T accepts) {
        triggered = checkpoint;
        answer = accepts;
        return accepts;
    }

    /** The mail is done: reads the last answer. */
    void settle() throws Exception {
        if (answer != null && answer.isDone()) {
            answered(triggered, answer.get());
        }
        answer = null;
    }

    private void answered(long checkpoint, boolean accepts) {
        if (!begun) {
            effects.add("answer", "checkpoint", checkpoint, "accepts", accepts);
        }
    }
}
