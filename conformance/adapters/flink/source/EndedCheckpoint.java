package barrierspec.flink;

import org.apache.flink.streaming.runtime.tasks.StreamTask;

/**
 * The calls by which a task learns that a checkpoint has ended, where the release has them.
 *
 * <p>The id chooses among an abort, a subsumption and a decline of the task itself, so that sequences have all three.
 */
final class EndedCheckpoint {
    private static final int CALLS = 3;

    private EndedCheckpoint() {}

    static void notify(StreamTask<?, ?> task, long checkpoint) throws Exception {
        switch ((int) (checkpoint % CALLS)) {
            case 0:
                subsumed(task, checkpoint);
                return;
            case 1:
                aborted(task, checkpoint);
                return;
            default:
                declined(task, checkpoint);
        }
    }
//# from 1.14

    private static void aborted(StreamTask<?, ?> task, long checkpoint) {
        task.notifyCheckpointAbortAsync(checkpoint, 0);
    }
//# end
//# from 1.11 before 1.14

    private static void aborted(StreamTask<?, ?> task, long checkpoint) {
        task.notifyCheckpointAbortAsync(checkpoint);
    }
//# end
//# before 1.11

    private static void aborted(StreamTask<?, ?> task, long checkpoint) {}
//# end
//# from 1.15

    private static void subsumed(StreamTask<?, ?> task, long checkpoint) {
        task.notifyCheckpointSubsumedAsync(checkpoint);
    }
//# end
//# before 1.15

    private static void subsumed(StreamTask<?, ?> task, long checkpoint) {}
//# end

    private static void declined(StreamTask<?, ?> task, long checkpoint) throws Exception {
        Reflect.call(task, "declineCheckpoint", checkpoint);
    }
}
