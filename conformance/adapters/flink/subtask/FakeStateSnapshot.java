package barrierspec.flink;

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
    private boolean runs;
    private boolean done;

    FakeStateSnapshot(long checkpoint, Effects effects) {
        this.checkpoint = checkpoint;
        this.effects = effects;
    }

    /** Runs Flink's asynchronous part. `toThrow`: the exception that `get` throws; null if the state is stored. */
    void run(Runnable part, Exception toThrow) {
        failure = toThrow;
        runs = true;
        part.run();
    }

    @Override
    public void run() {
        done = true;
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
