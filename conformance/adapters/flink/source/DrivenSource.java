package barrierspec.flink;

import java.util.Map;

/** The task of one source: what reaches it from its coordinator and from the system that it reads. */
interface DrivenSource {
    /** The coordinator triggers a checkpoint, `here` or at a task manager that does not have the task. */
    void trigger(long checkpoint, boolean here) throws Exception;

    /** The source's own hook announces a checkpoint. */
    void induce(long checkpoint) throws Exception;

    /** The checkpoint was aborted, subsumed or declined. */
    void ended(long checkpoint) throws Exception;

    /** The task starts or stops running. */
    void status(boolean running);

    /** Does the mail, and lets the source read once if it may. */
    void settle() throws Exception;

    /** Adds what the task keeps, under the names of the protocol. */
    void describe(Map<String, Object> state);
}
