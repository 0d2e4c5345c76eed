package barrierspec.flink;

import java.util.HashSet;
import java.util.Set;

/**
 * The asynchronous part of a snapshot: Flink's runnable, and the state that it writes. An event ends it.
 *
 * <p>From 1.11 to 1.13 the part registers itself with the coordinator of the subtask when its thread starts. So it
 * has a thread that starts at once and waits for the event where it writes the state. Elsewhere the synchronous
 * part has registered it, and the event runs it.
 */
final class AsyncPart {
    /** Parts that wait, of this task and of those before it. */
    private static final Set<AsyncPart> WAITING = new HashSet<>();
    private static final long MILLISECONDS = 30_000;

    private final Runnable flinks;
    private final FakeStateSnapshot state;
    private Thread thread;

    AsyncPart(Runnable flinks, FakeStateSnapshot state) {
        this.flinks = flinks;
        this.state = state;
    }

    /** Starts a thread that waits for the end; returns when it waits there. */
    void startsAtOnce() throws InterruptedException {
        thread = new Thread(flinks, "asynchronous part");
        thread.setDaemon(true);
        state.waits();
        thread.start();
        state.awaitWaiting(MILLISECONDS);
        WAITING.add(this);
    }

    /** Ends the part. `failure`: what its state throws; null if the state is stored. */
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

    /** Ends the threads of tasks that are not driven any more. Their effects go nowhere. */
    static void endAll() {
        for (AsyncPart part : WAITING) {
            part.state.ends(null);
        }
        WAITING.clear();
    }
}
