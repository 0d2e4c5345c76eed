package barrierspec.flink;

import org.apache.flink.streaming.runtime.tasks.StreamTask;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor;

/** One task of a source, which its task manager has. */
abstract class OneTask implements DrivenSource {
    final Triggers triggers;
    final MailboxProcessor mailbox;
    private final StreamTask<?, ?> task;
    private final TaskManager manager;

    OneTask(StreamTask<?, ?> task, MailboxProcessor mailbox, Effects effects) {
        this.task = task;
        this.mailbox = mailbox;
        triggers = new Triggers(effects);
        manager = new TaskManager(task, effects);
        Surroundings.give(task, mailbox, triggers);
    }

    @Override
    public final void trigger(long checkpoint, boolean here) throws Exception {
        triggers.next();
        manager.trigger(checkpoint, here);
    }

    @Override
    public final void ended(long checkpoint) throws Exception {
        triggers.next();
        EndedCheckpoint.notify(task, checkpoint);
    }

    @Override
    public final void status(boolean running) {
        triggers.next();
        Reflect.set(task, "isRunning", running);
    }
}
