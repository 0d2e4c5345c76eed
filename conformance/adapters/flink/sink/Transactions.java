package barrierspec.flink;

import java.util.TreeSet;

/** A fake external system with transactions. A transaction is a number, and a commit can be made to throw. */
final class Transactions {
    final TreeSet<Long> committed = new TreeSet<>();
    final Effects effects = new Effects();
    private long last;
    private Object failing;
    private boolean failed;

    /** Makes the commit of this transaction throw during one event; null: no commit throws. */
    void failing(Object transaction) {
        failing = transaction;
        failed = false;
    }

    /** Whether a commit has thrown during this event. */
    boolean hasFailed() {
        return failed;
    }

    Long begin() {
        last++;
        effects.add("begin", "transaction", last);
        return last;
    }

    void write(Long transaction, Object value) {
        effects.add("write", "transaction", transaction, "value", value);
    }

    void preCommit(Long transaction) {
        effects.add("pre_commit", "transaction", transaction);
    }

    void commit(Long transaction) {
        if (transaction.equals(failing)) {
            failed = true;
            effects.add("commit_failed", "transaction", transaction);
            throw new IllegalStateException("the commit of " + transaction + " throws by configuration of the event");
        }
        committed.add(transaction);
        effects.add("commit", "transaction", transaction);
    }

    void abort(Long transaction) {
        effects.add("abort_transaction", "transaction", transaction);
    }
}
