package barrierspec.flink;

import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.runtime.tasks.OneInputStreamTask;

/**
 * A task that starts as a release starts it: Flink's own code reads which checkpoint the task is restored from.
 *
 * <p>The start stops where the task would create its inputs. The task is made without running a constructor.
 */
final class RestoredTask extends OneInputStreamTask<Object, Object> {
    private RestoredTask(Environment never) throws Exception {
        super(never);
    }

//# from 1.14
    /** Starts the task, until it would create its inputs. The chain of operators that it creates is empty. */
    void restoreUntilItRuns() {
        try {
            Reflect.call(this, "restoreInternal");
            throw new IllegalStateException("the task has started without its inputs: see docs/verify/released-flinks.md");
        } catch (Started reached) {
            if (Fields.has(this, "isRestoring")) {  // newer releases only
                Reflect.set(this, "isRestoring", false);
            }
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
    }

//# end
//# before 1.14
    /** Does nothing: in these releases a task does not know from which checkpoint it is restored. */
    void restoreUntilItRuns() {}

//# end
    @Override
    public void init() {
        throw new Started();
    }

    /** Ends the start: the task has read from which checkpoint it is restored. */
    private static final class Started extends RuntimeException {
        Started() {
            super(null, null, false, false);
        }
    }
}
