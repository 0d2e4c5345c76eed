package barrierspec.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/** The external system: its transactions are numbers, and a commit can be made to throw. */
final class Transactions {
    final TreeSet<Long> committed = new TreeSet<>();
    private List<Object> said = new ArrayList<>();
    private long last;
    private Object failing;
    private boolean failed;

    /** What was done since this was last asked, as effects of the protocol. */
    List<Object> said() {
        List<Object> now = said;
        said = new ArrayList<>();
        return now;
    }

    private TreeMap<String, Object> tell(String kind, Long transaction) {
        TreeMap<String, Object> effect = new TreeMap<>();
        effect.put("kind", kind);
        effect.put("transaction", transaction);
        said.add(effect);
        return effect;
    }

    /** The commit of this transaction throws, during one event; null: none does. */
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
        tell("begin", last);
        return last;
    }

    void write(Long transaction, Object value) {
        tell("write", transaction).put("value", value);
    }

    void preCommit(Long transaction) {
        tell("pre_commit", transaction);
    }

    void commit(Long transaction) {
        if (transaction.equals(failing)) {
            failed = true;
            tell("commit_failed", transaction);
            throw new IllegalStateException("the commit of " + transaction + " was asked to throw");
        }
        committed.add(transaction);
        tell("commit", transaction);
    }

    void abort(Long transaction) {
        tell("abort_transaction", transaction);
    }
}
