package barrierspec.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Flink's two-phase-commit sink, its durable snapshots, and the system that holds its transactions.
 *
 * <p>A crash drops the sink; a restore makes a new one from a snapshot. If the commit of a transaction throws, the
 * task fails and closes the sink.
 */
final class Sinking implements Component {
    private static final String NEWEST = "1.14";

    private final TreeMap<Long, Object> snapshots = new TreeMap<>();
    private final Transactions transactions = new Transactions();
    private final boolean isNotifiedOfTheEnd;
    private TwoPhase sink;
    private boolean finished;

    Sinking(Map<String, Object> config, Release release) throws Exception {
        String profile = String.valueOf(config.getOrDefault("profile", NEWEST));
        if (!profile.equals(release.sink())) {
            throw new Unsupported("profile " + profile + "; this release is of profile " + release.sink());
        }
        isNotifiedOfTheEnd = release.isAtLeast(1, 14);
        start(null);
        transactions.effects.take();
    }

    @Override
    public List<Map<String, Object>> take(Map<String, Object> event) {
        String kind = String.valueOf(event.get("kind"));
        if ((sink == null) != kind.equals("restore")) {
            throw new Refused("kind: a sink restores when it does not run, and only then, got " + kind);
        }
        try {
            apply(kind, event);
        } catch (RuntimeException ours) {
            throw ours;
        } catch (Exception flinks) {
            throw new IllegalStateException(flinks);
        }
        return transactions.effects.take();
    }

    private void apply(String kind, Map<String, Object> event) throws Exception {
        transactions.failing(event.get("fails"));
        switch (kind) {
            case "write":
                if (finished) {
                    throw new Refused("write: the sink has finished");
                }
                sink.write(event.get("value"));
                break;
            case "snapshot":
                long id = number(event);
                if (!snapshots.isEmpty() && id <= snapshots.lastKey()) {
                    throw new Refused("checkpoint: expected an id above " + snapshots.lastKey() + ", got " + id);
                }
                snapshots.put(id, sink.snapshot(id));
                break;
            case "notify_complete":
                try {
                    sink.notifyCheckpointComplete(number(event));
                } catch (Exception failed) {
                    if (!transactions.hasFailed()) {
                        throw failed;
                    }
                    close();
                }
                break;
            case "notify_abort":
//# from 1.11
                sink.notifyCheckpointAborted(number(event));
//# end
                break;
            case "finish":
                end();
                break;
            case "close":
                close();
                break;
            case "crash":
                sink = null;
                break;
            case "restore":
                restore(event.get("checkpoint"));
                break;
            default:
                throw new Refused("kind: expected an event of a sink, got " + kind);
        }
    }

    /** The input has ended. A release that does not notify its sinks of the end closes the sink. */
    private void end() throws Exception {
        if (!isNotifiedOfTheEnd) {
            close();
            return;
        }
//# from 1.14
        sink.finish();
        finished = true;
//# end
    }

    private void close() throws Exception {
        TwoPhase closed = sink;
        sink = null;
        closed.close();
    }

    private void restore(Object checkpoint) throws Exception {
        if (checkpoint == null) {
            snapshots.clear();
            start(null);
            return;
        }
        long id = ((Number) checkpoint).longValue();
        if (!snapshots.containsKey(id)) {
            throw new Refused("checkpoint: expected one of " + snapshots.keySet() + ", got " + id);
        }
        try {
            start(snapshots.get(id));
        } catch (Exception failed) {
            if (!transactions.hasFailed()) {
                throw failed;
            }
            return;
        }
        snapshots.tailMap(id, false).clear();
    }

    private void start(Object snapshot) throws Exception {
        TwoPhase begun = new TwoPhase(transactions);
        begun.begin(snapshot);
        sink = begun;
        finished = false;
    }

    private static long number(Map<String, Object> event) {
        Object id = event.get("checkpoint");
        if (!(id instanceof Number) || ((Number) id).longValue() < 0) {
            throw new Refused("checkpoint: expected an int from 0 on, got " + id);
        }
        return ((Number) id).longValue();
    }

    @Override
    public Map<String, Object> state() {
        TreeMap<String, Object> seen = new TreeMap<>();
        List<Object> pending = new ArrayList<>();
        seen.put("open", sink == null ? null : sink.open());
        if (sink != null) {
            sink.pending(pending);
        }
        seen.put("pending", pending);
        seen.put("committed", new ArrayList<Object>(new TreeSet<>(transactions.committed)));
        seen.put("running", sink != null);
        return seen;
    }
}
