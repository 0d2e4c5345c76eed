package barrierspec.flink;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
//# before 1.11
import org.apache.flink.runtime.util.clock.Clock;
//# end
//# from 1.11
import org.apache.flink.util.clock.Clock;
//# end
//# before 1.14
import org.apache.flink.runtime.concurrent.ScheduledExecutor;
//# end
//# from 1.14
import org.apache.flink.util.concurrent.ScheduledExecutor;
//# end

/** Stands for the coordinator's timer thread, the job's main thread and the clock: a queue with virtual time. */
final class Loop {
    private static final class Timer {
        long due;
        final long number;
        final Runnable work;
        final long period;
        final boolean isScheduler;

        Timer(long due, long number, Runnable work, long period) {
            this.due = due;
            this.number = number;
            this.work = work;
            this.period = period;
            this.isScheduler = work.getClass().getSimpleName().equals("ScheduledTrigger");
        }
    }

    private static final long BEGUN = 1_000_000_000;
//# before 1.10
    /** Flink's milliseconds in one millisecond of this loop: many, because 1.9 reads the real clock (`OwnTimer`). */
    static final long UNIT = 100_000;
//# end
//# from 1.10
    /** Flink's milliseconds in one millisecond of this loop. */
    static final long UNIT = 1;
//# end

    private final ArrayDeque<Runnable> ready = new ArrayDeque<>();
    private final PriorityQueue<Timer> timers =
            new PriorityQueue<>(Comparator.<Timer>comparingLong(t -> t.due)
                    .thenComparing(t -> t.isScheduler)
                    .thenComparingLong(t -> t.number));
    private long now;
    private long registered;
    private long firstDelay = -1;
    private long randomDelay;
    private boolean isOver;
    private LongConsumer onTime = ms -> {};

    /** Runs all work that is due now. */
    void settle() {
        advance(0);
    }

    /**
     * Lets time pass. While a timer runs, the clock shows the time at which the timer is due.
     *
     * <p>Among timers due at one time the scheduler's run last, all others in the order of registration.
     */
    void advance(long ms) {
        long until = now + ms;
        runReady();
        while (!timers.isEmpty() && timers.peek().due <= until) {
            Timer timer = timers.poll();
            pass(timer.due);
            if (timer.period > 0) {
                timer.due += timer.period;
                timers.add(timer);
            }
            timer.work.run();
            runReady();
        }
        pass(until);
    }

    private void pass(long until) {
        if (until > now) {
            onTime.accept(until - now);
            now = until;
        }
    }

    /** Sets a listener. It receives the milliseconds that pass, before the clock shows the new time. */
    void onTime(LongConsumer listener) {
        onTime = listener;
    }

    private void runReady() {
        for (Runnable work = ready.poll(); work != null; work = ready.poll()) {
            work.run();
        }
    }

    /** Forgets all waiting work and all timers. The clock keeps its time. */
    void clear() {
        ready.clear();
        timers.clear();
        isOver = false;
    }

    /** Drops all timers and accepts no new ones, as a job's timer does when the coordinator shuts it down. */
    void end() {
        timers.clear();
        isOver = true;
    }

    long now() {
        return now;
    }

    /** Flink's relative time. It begins far from 0, because Flink uses 0 for "no checkpoint has completed yet". */
    long relative() {
        return now + BEGUN;
    }

    /** Sets the delay of the next timer, in place of the random delay that Flink draws. -1: Flink's delay holds. */
    void firstDelay(long ms) {
        firstDelay = ms;
    }

    /** Sets the delay of timers that Flink registers with a random delay when it resets its scheduler. */
    void randomDelay(long ms) {
        randomDelay = ms;
    }

    private ScheduledFuture<?> register(Runnable work, long delay, long period) {
        Timer timer = new Timer(now + delay, registered++, work, period);
        if (!isOver) {
            timers.add(timer);
        }
        return Fakes.of(
                ScheduledFuture.class,
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "cancel":
                            return timers.remove(timer);
                        case "isDone":
                        case "isCancelled":
                            return !timers.contains(timer);
                        default:
                            return Fakes.nothing(method.getReturnType());
                    }
                });
    }

    ScheduledExecutor executor() {
        return executor(ScheduledExecutor.class);
    }

    /** This loop as an executor of this type. */
    <T> T executor(Class<T> type) {
        return Fakes.of(
                type,
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "execute":
                            ready.add((Runnable) arguments[0]);
                            return null;
                        case "schedule":
                            return register((Runnable) arguments[0], first(ms(arguments[1], arguments[2])), 0);
                        case "scheduleAtFixedRate":
                            return register(
                                    (Runnable) arguments[0],
                                    first(ms(arguments[1], arguments[3])),
                                    ms(arguments[2], arguments[3]));
                        default:
                            throw new IllegalStateException("unexpected call of " + method);
                    }
                });
    }

    private long first(long otherwise) {
        long delay = firstDelay >= 0 ? firstDelay : isReset() ? randomDelay : otherwise;
        firstDelay = -1;
        return delay;
    }

    private static boolean isReset() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("checkAndResetCheckpointScheduler")));
    }

    private static long ms(Object amount, Object unit) {
        long ms = ((TimeUnit) unit).toMillis((Long) amount);
        return ms / UNIT + (ms % UNIT > 0 ? 1 : 0); // rounded up, since real time shortens the rest of a pause
    }

    Clock clock() {
        return new Clock() {
            @Override
            public long absoluteTimeMillis() {
                return now;
            }

            @Override
            public long relativeTimeMillis() {
                return relative();
            }

            @Override
            public long relativeTimeNanos() {
                return relative() * 1_000_000;
            }
        };
    }
}
