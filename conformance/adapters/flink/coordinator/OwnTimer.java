package barrierspec.flink;

//# before 1.10
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;

/**
 * Replaces the timer and the clock of a coordinator of 1.9, which creates its own timer and reads the real clock.
 *
 * <p>The timer passes all work to the loop and starts no thread. As virtual time passes, this class moves the
 * recorded time of the last completion into the past. Real time passes too, but one millisecond of the loop is
 * `Loop.UNIT` milliseconds of the coordinator, so that the real time makes no difference.
 */
final class OwnTimer extends ScheduledThreadPoolExecutor {
    private static final String COMPLETED = "lastCheckpointCompletionNanos";
    private static final long LONG_AGO = Long.MIN_VALUE / 2;
    private static final long NANOS = Loop.UNIT * 1_000_000;
    /** The longest pause, in milliseconds of the loop. Flink limits a pause to one year in its own milliseconds. */
    static final long LONGEST_PAUSE = 365 * 24 * 3_600_000L / Loop.UNIT;

    private final Loop loop;
    private final ScheduledExecutorService target;

    private OwnTimer(Loop loop) {
        super(1);
        this.loop = loop;
        target = loop.executor(ScheduledExecutorService.class);
    }

    /** Replaces the timer and the clock of a coordinator that has not started yet. */
    static void replace(CheckpointCoordinator flink, Loop loop) {
        ((ScheduledThreadPoolExecutor) Fields.get(flink, "timer")).shutdownNow();
        Reflect.set(flink, "timer", new OwnTimer(loop));
        Reflect.set(flink, COMPLETED, LONG_AGO);
        loop.onTime(ms -> {
            long completed = (Long) Fields.get(flink, COMPLETED);
            long passed = Math.min(ms, -LONG_AGO / NANOS) * NANOS;
            Reflect.set(flink, COMPLETED, Math.max(completed - passed, LONG_AGO));
        });
    }

    @Override
    public void execute(Runnable work) {
        target.execute(work);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
        return target.schedule(work, delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable work, long delay, long period, TimeUnit unit) {
        return target.scheduleAtFixedRate(work, delay, period, unit);
    }

    @Override
    public List<Runnable> shutdownNow() {
        loop.end();
        return Collections.emptyList();
    }
}
//# end
