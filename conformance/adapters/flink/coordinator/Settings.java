package barrierspec.flink;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.jobgraph.tasks.CheckpointCoordinatorConfiguration;

/** The configuration of one coordinator, with the protocol's defaults for the options that are left out. */
final class Settings {
    final List<String> tasks = new ArrayList<>();
    final Set<String> sources = new LinkedHashSet<>();
    final Set<String> external = new HashSet<>();
    final List<String> operatorCoordinators;
    final List<String> hooks;
    final long interval;
    final long initialDelay;
    final long timeout;
    final long minPause;
    final int maxConcurrent;
    final int tolerableFailures;
    final int retain;
    final boolean unaligned;
    final boolean finishedTasks;
    final boolean keptOnCancellation;
    final boolean slowCleaning;
    /** The savepoint from which the job starts; null for none. */
    final Long savepoint;
    final String claimMode;
    final boolean ioFailures;

    /** Reads the options. Throws Refused if one is not valid, Unsupported if the release does not have it. */
    Settings(Map<String, Object> wire, Release release) {
        checkProfile(wire, release);
        Object tasks = wire.get("tasks");
        if (!(tasks instanceof List) || ((List<?>) tasks).isEmpty()) {
            throw new Refused("tasks: expected a list with at least one task, got " + tasks);
        }
        for (Object one : (List<?>) tasks) {
            Map<String, Object> task = Json.object(one, "task");
            String id = String.valueOf(task.get("id"));
            this.tasks.add(id);
            if (Boolean.TRUE.equals(task.get("source"))) {
                sources.add(id);
            }
            if (Boolean.TRUE.equals(task.get("external"))) {
                external.add(id);
            }
        }
        timeout = Config.number(wire, "timeout_ms", 600_000);
        minPause = Config.number(wire, "min_pause_ms", 0);
        long interval = optional(wire, "interval_ms", -1);
        this.interval = interval < 0 ? interval : Math.max(interval, minPause);
        initialDelay = optional(wire, "initial_delay_ms", this.interval);
        maxConcurrent = (int) Config.number(wire, "max_concurrent", 1);
        tolerableFailures = (int) Config.number(wire, "tolerable_failures", -1);
        retain = (int) Config.number(wire, "retain", 1);
        unaligned = flag(wire, "unaligned", false);
        finishedTasks = flag(wire, "finished_tasks", release.isAtLeast(1, 15));
        keptOnCancellation = "retain".equals(wire.getOrDefault("externalized", "delete"));
        operatorCoordinators = names(wire, "operator_coordinators");
        hooks = names(wire, "hooks");
        savepoint = (Long) wire.get("restored_savepoint");
        claimMode = (String) wire.get("claim_mode");
        ioFailures = "injected".equals(wire.get("io_failures"));
        slowCleaning = "slow".equals(wire.get("cleaning"));
        if (slowCleaning && !release.isAtLeast(1, 12)) {
            throw new Unsupported("cleaning slow; it came with 1.12");
        }
        if (finishedTasks && !release.isAtLeast(1, 14)) {
            throw new Unsupported("finished_tasks; it came with 1.14");
        }
        if (unaligned && !release.isAtLeast(1, 11)) {
            throw new Unsupported("unaligned; it came with 1.11");
        }
//# before 1.10
        if (minPause > OwnTimer.LONGEST_PAUSE) {
            throw new Unsupported("min_pause_ms of " + minPause + "; the longest here is " + OwnTimer.LONGEST_PAUSE);
        }
//# end
        if (unaligned && maxConcurrent > 1) {
            throw new Refused("max_concurrent: expected 1 with unaligned, got " + maxConcurrent);
        }
        if (!operatorCoordinators.isEmpty() && !release.isAtLeast(1, 11)) {
            throw new Unsupported("operator_coordinators; they came with 1.11");
        }
    }

    /** The configuration as an object of Flink, in Flink's milliseconds. */
    CheckpointCoordinatorConfiguration flink() {
        long interval = this.interval < 0 ? Long.MAX_VALUE : this.interval * Loop.UNIT;
        CheckpointRetentionPolicy kept = keptOnCancellation
                ? CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION
                : CheckpointRetentionPolicy.NEVER_RETAIN_AFTER_TERMINATION;
        int tolerable = Math.max(0, tolerableFailures);
//# before 1.11
        return new CheckpointCoordinatorConfiguration(
                interval, timeout * Loop.UNIT, minPause * Loop.UNIT, maxConcurrent, kept, true, false, tolerable);
//# end
//# from 1.11
        return new CheckpointCoordinatorConfiguration.CheckpointCoordinatorConfigurationBuilder()
                .setCheckpointInterval(interval)
                .setCheckpointTimeout(timeout)
                .setMinPauseBetweenCheckpoints(minPause)
                .setMaxConcurrentCheckpoints(maxConcurrent)
                .setCheckpointRetentionPolicy(kept)
                .setExactlyOnce(true)
                .setUnalignedCheckpointsEnabled(unaligned)
                .setTolerableCheckpointFailureNumber(tolerable)
//# end
//# from 1.11 before 1.14
                .setPreferCheckpointForRecovery(false) // as jobs have it
//# end
//# from 1.11
                .build();
//# end
    }

    /** Throws Unsupported if the profile is not the one of the release. */
    static void checkProfile(Map<String, Object> wire, Release release) {
        Object profile = wire.getOrDefault("profile", Release.NEWEST_COORDINATOR);
        if (!release.coordinator.equals(profile)) {
            throw new Unsupported("profile " + profile + "; this is " + release.coordinator);
        }
    }

    private static long optional(Map<String, Object> wire, String name, long otherwise) {
        return wire.get(name) == null ? otherwise : Config.number(wire, name, otherwise);
    }

    static boolean flag(Map<String, Object> wire, String name, boolean otherwise) {
        Object value = wire.getOrDefault(name, otherwise);
        if (!(value instanceof Boolean)) {
            throw new Refused(name + ": expected a bool, got " + value);
        }
        return (Boolean) value;
    }

    private static List<String> names(Map<String, Object> wire, String field) {
        List<String> names = new ArrayList<>();
        Object value = wire.get(field);
        if (value instanceof List) {
            for (Object name : (List<?>) value) {
                names.add(String.valueOf(name));
            }
        }
        return names;
    }
}
