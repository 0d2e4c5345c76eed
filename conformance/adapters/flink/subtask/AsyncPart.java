package barrierspec.flink;

import java.util.HashSet;
import java.util.Set;

/**
 * The asynchronous part of a snapshot: Flink's runnable, and the state that it writes. An event ends it.
 *
 * <p>From 1.11 to 1.13 the part registers itself with the coordinator of the subtask when its thread starts. So the
 * harness starts a thread at once, which waits for the event when it writes the state. In other releases the
 * synchronous part registers it, and the event runs it.
 */
final class AsyncPart {
    /** The parts that wait, of this task and of earlier tasks. */
    private static final Set<AsyncPart> WAITING = new HashSet<>();
    private static final long MILLISECONDS = 30_000;

    private final Runnable flinks;
    private final FakeStateSnapshot state;
    private Thread thread;

    AsyncPart(Runnable flinks, FakeStateSnapshot state) {
        this.flinks = flinks;
        this.state = state;
    }

    /** Starts the thread of the part. Returns when the thread waits for `end`. */
    void startsAtOnce() throws InterruptedException {
        thread = new Thread(flinks, "asynchronous part");
        thread.setDaemon(true);
        state.waits();
        thread.start();
        state.awaitWaiting(MILLISECONDS);
        WAITING.add(this);
    }

    /** Ends the part. `failure`: the exception of writing the state; null if the state is stored. */
    void end(Exception failure) throws InterruptedException {
        state.ends(failure);
        if (thread == null) {
            flinks.run();
            return;
        }
        WAITING.remove(this);
        thread.join(MILLISECONDS);
        if (thread.isAlive()) {
            throw new IllegalStateException("the asynchronous part has not ended: see docs/verify/released-flinks.md");
        }
    }

    /** Ends the threads of tasks that the suite does not use any more, and ignores their effects. */
    static void endAll() {
        for (AsyncPart part : WAITING) {
            part.state.ends(null);
        }
        WAITING.clear();
    }
}
