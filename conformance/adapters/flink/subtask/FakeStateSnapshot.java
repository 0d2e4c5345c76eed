package barrierspec.flink;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/** The state of one snapshot, which the harness lets be stored or lets fail. */
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

    /** Run Flink's asynchronous part; `why`: the reason for which the state cannot be stored, or null. */
    void run(Runnable part, Exception why) {
        failure = why;
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

    /** The cancellation of a part that does not run is the effect; a part that fails cancels itself. */
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
