package barrierspec.flink;

import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.runtime.tasks.OneInputStreamTask;

/**
 * A task that starts as a release starts it: Flink's own code reads which checkpoint the task is restored from.
 *
 * <p>It stops where the task would build its inputs. No constructor of it ever runs.
 */
final class RestoredTask extends OneInputStreamTask<Object, Object> {
    private RestoredTask(Environment never) throws Exception {
        super(never);
    }

//# from 1.14
    /** The start of the task, up to its inputs. The chain of operators that it makes is empty. */
    void restoreUntilItRuns() {
        try {
            Reflect.call(this, "restoreInternal");
            throw new IllegalStateException("the task has started without its inputs: see docs/verify/released-flinks.md");
        } catch (Started reached) {
            if (Fields.has(this, "isRestoring")) {  // not in older releases
                Reflect.set(this, "isRestoring", false);
            }
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
    }

//# end
//# before 1.14
    /** No task knows what it is restored from. */
    void restoreUntilItRuns() {}

//# end
    @Override
    public void init() {
        throw new Started();
    }

    /** The task has read what it is restored from. */
    private static final class Started extends RuntimeException {
        Started() {
            super(null, null, false, false);
        }
    }
}
