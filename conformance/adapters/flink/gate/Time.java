package barrierspec.flink;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Callable;
//# from 1.13
import java.time.Duration;
import org.apache.flink.util.clock.Clock;
//# end
//# from 1.13 before 1.16
import java.util.function.BiFunction;
//# end
//# from 1.16
import org.apache.flink.streaming.runtime.io.checkpointing.BarrierAlignmentUtil;
//# end

/** Virtual time in milliseconds, from 0 on. Only events advance it; then the timers that are due fire. */
final class Time {
    private static final class Timer {
        final long due;
        final long number;
        final Callable<?> work;

        Timer(long due, long number, Callable<?> work) {
            this.due = due;
            this.number = number;
            this.work = work;
        }
    }

    private final PriorityQueue<Timer> timers =
            new PriorityQueue<>(Comparator.<Timer>comparingLong(t -> t.due).thenComparingLong(t -> t.number));
    private long now;
    private long registered;

    long now() {
        return now;
    }

    /** Lets time pass. A timer sees the time at which it is due; equal ones run in the order of registration. */
    void advance(long ms) throws Exception {
        long until = now + ms;
        while (!timers.isEmpty() && timers.peek().due <= until) {
            Timer timer = timers.poll();
            now = Math.max(now, timer.due);
            timer.work.call();
        }
        now = until;
    }
//# from 1.13

    private Timer register(Callable<?> work, Duration delay) {
        Timer timer = new Timer(now + delay.toMillis(), registered++, work);
        timers.add(timer);
        return timer;
    }

    Clock clock() {
        return new Clock() {
            @Override
            public long absoluteTimeMillis() {
                return now;
            }

            @Override
            public long relativeTimeMillis() {
                return now;
            }

            @Override
            public long relativeTimeNanos() {
                return now * 1_000_000;
            }
        };
    }
//# end
//# from 1.13 before 1.16

    /** A function that registers a timer. The type of its result, which cancels the timer, is private to Flink. */
    BiFunction timers() throws ClassNotFoundException {
        Class<?> cancellable =
                Class.forName("org.apache.flink.streaming.runtime.io.checkpointing.CheckpointBarrierHandler$Cancellable");
        BiFunction<Callable<?>, Duration, Object> timers =
                (work, delay) -> {
                    Timer timer = register(work, delay);
                    return Fakes.of(cancellable, (proxy, method, arguments) -> {
                        this.timers.remove(timer);
                        return null;
                    });
                };
        return timers;
    }
//# end
//# from 1.16

    BarrierAlignmentUtil.DelayableTimer timers() {
        return (work, delay) -> {
            Timer timer = register(work, delay);
            return () -> timers.remove(timer);
        };
    }
//# end
}
