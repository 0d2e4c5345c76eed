package barrierspec.flink;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/** A fake asynchronous state snapshot. The harness decides when it runs, and whether it succeeds. */
final class FakeStateSnapshot implements RunnableFuture<SnapshotResult<KeyedStateHandle>> {
    private final long checkpoint;
    private final Effects effects;
    private Exception failure;
    /** Whether the harness has ended the asynchronous part. After that, cancelling the snapshot is no effect. */
    private boolean runs;
    private boolean done;
    /** Reaches 0 when the asynchronous part waits in `get`; null if it does not wait. */
    private CountDownLatch waiting;
    private CountDownLatch ended;

    FakeStateSnapshot(long checkpoint, Effects effects) {
        this.checkpoint = checkpoint;
        this.effects = effects;
    }

    long checkpoint() {
        return checkpoint;
    }

    /** The asynchronous part has a thread. It will wait in `get` until `ends` is called. */
    void waits() {
        waiting = new CountDownLatch(1);
        ended = new CountDownLatch(1);
    }

    /** Returns when the thread waits in `get`. */
    void awaitWaiting(long milliseconds) throws InterruptedException {
        if (!waiting.await(milliseconds, TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("the asynchronous part has not started: see docs/verify/released-flinks.md");
        }
    }

    /** Lets the asynchronous part end. `toThrow`: the exception that `get` throws; null if the state is stored. */
    void ends(Exception toThrow) {
        failure = toThrow;
        runs = true;
        if (ended != null) {
            ended.countDown();
        }
    }

    @Override
    public void run() {
        if (waiting != null) {
            waiting.countDown();
            awaitEnd();
        }
        done = true;
    }

    private void awaitEnd() {
        try {
            ended.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get() throws ExecutionException {
        if (failure != null) {
            throw new ExecutionException(failure);
        }
        return SnapshotResult.empty();
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get(long time, TimeUnit unit) throws ExecutionException {
        return get();
    }

    /**
     * Records the effect `cancel_async` if Flink cancels this snapshot before its asynchronous part runs. A
     * failing asynchronous part cancels the snapshot too; that is no effect.
     */
    @Override
    public boolean cancel(boolean interrupts) {
        if (!runs) {
            effects.add("cancel_async", "checkpoint", checkpoint);
        }
        done = true;
        return true;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public boolean isDone() {
        return done;
    }
}
