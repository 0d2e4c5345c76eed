package barrierspec.flink;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.OperatorStreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
//# with org.apache.flink.runtime.state.IncrementalKeyedStateHandle$HandleAndLocalPath
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
//# end
//# without org.apache.flink.runtime.state.IncrementalKeyedStateHandle$HandleAndLocalPath
import org.apache.flink.runtime.state.StateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;
//# end

/** Makes snapshots of tasks. They contain handles of state whose deletion is an effect. */
final class States {
    private static final int KEY_GROUPS = Vertices.MAX_PARALLELISM;
    private static final long NONE = -1;
    /** The backend id of all tasks, so that two tasks can report the same shared handle. */
    private static final UUID BACKEND = new UUID(0, 1);

    private final CoordinatorEffects effects;
    private final List<String> tasks;
    private final Set<Long> finalized = new HashSet<>();
    private final Map<String, Long> registered = new HashMap<>();
    private final Map<Long, Map<String, Long>> mentions = new HashMap<>();
    private long registering = NONE;
    private long unwritten = NONE;
    private long registrations;
    private Supplier<Object> registry;

    States(CoordinatorEffects effects, List<String> tasks) {
        this.effects = effects;
        this.tasks = tasks;
    }

    /** Sets the registry of a new coordinator, and numbers the shared handles of the retained checkpoints in order. */
    void use(Supplier<Object> fresh, List<Long> retained) {
        registry = fresh;
        registered.clear();
        retained.forEach(this::look);
    }

    private Set<String> held() {
        Set<String> held = new HashSet<>();
        for (Object entry : ((Map<?, ?>) Fields.get(registry.get(), "registeredStates")).values()) {
            Object handle = Fields.get(entry, "stateHandle");
            if (handle instanceof Handle) {
                held.add(((Handle) handle).name);
            }
        }
        return held;
    }

    /** Call this after each event. It reads which shared handles the registry has. */
    void look() {
        unwritten = NONE;
        look(registering);
    }

    /** Numbers new shared handles after the old ones, in the order of the tasks and files of this checkpoint. */
    private void look(long checkpoint) {
        Set<String> held = held();
        registered.keySet().retainAll(held);
        Map<String, Long> order = mentions.getOrDefault(checkpoint, Collections.emptyMap());
        List<String> fresh = new ArrayList<>(order.keySet());
        fresh.retainAll(held);
        fresh.removeAll(registered.keySet());
        fresh.sort(Comparator.comparing(order::get));
        for (String name : fresh) {
            registered.put(name, registrations++);
        }
    }

    /** From now on the deletion of this checkpoint includes its collected state, which is no separate effect. */
    void finalized(long checkpoint) {
        finalized.add(checkpoint);
        registering = checkpoint;
    }

    /** Records that writing this checkpoint's metadata fails. Up to 1.14 its files are registered, in any order. */
    void unwritten(long checkpoint) {
//# before 1.15
        unwritten = checkpoint;
//# end
    }

    /** A task's snapshot: a private handle, shared ones, or both. `collected`: it becomes part of the checkpoint. */
    TaskStateSnapshot snapshot(
            String task, OperatorID operator, long checkpoint, String own, List<?> names, boolean collected) {
        int position = tasks.indexOf(task);
        registering = checkpoint;
        StateObjectCollection<OperatorStateHandle> private_ = StateObjectCollection.empty();
        StateObjectCollection<KeyedStateHandle> keyed = StateObjectCollection.empty();
        if (own != null) {
            private_ = StateObjectCollection.singleton(
                    new OperatorStreamStateHandle(Collections.emptyMap(), new Handle(own, collected ? checkpoint : NONE, false, order(position, -1))));
        }
        if (!names.isEmpty()) {
            keyed = StateObjectCollection.singleton(incremental(position, checkpoint, names, collected));
        }
        OperatorSubtaskState state;
//# before 1.12
        state = new OperatorSubtaskState(
                private_, StateObjectCollection.empty(), keyed, StateObjectCollection.empty()
//# end
//# from 1.11 before 1.12
                , StateObjectCollection.empty(), StateObjectCollection.empty()
//# end
//# before 1.12
                );
//# end
//# from 1.12
        state = OperatorSubtaskState.builder().setManagedOperatorState(private_).setManagedKeyedState(keyed).build();
//# end
        return new TaskStateSnapshot(new HashMap<>(Collections.singletonMap(operator, state)));
    }

    private KeyedStateHandle incremental(int position, long checkpoint, List<?> names, boolean collected) {
//# from 1.15
        mentions.clear(); // each acknowledgement registers its own files
//# end
//# before 1.15
        if (collected) {
//# end
        for (Object name : names) {
            mentions.computeIfAbsent(checkpoint, any -> new HashMap<>())
                    .merge((String) name, order(position, names.indexOf(name)), Math::min);
        }
//# before 1.15
        }
//# end
        Handle meta = new Handle(null, NONE, false, 0);
//# without org.apache.flink.runtime.state.IncrementalKeyedStateHandle$HandleAndLocalPath
        Map<StateHandleID, StreamStateHandle> files = new HashMap<>();
        for (Object name : names) {
            files.put(new StateHandleID((String) name), new Handle((String) name, NONE, true, order(position, names.indexOf(name))));
        }
        return new IncrementalRemoteKeyedStateHandle(
                BACKEND, KeyGroupRange.of(0, KEY_GROUPS - 1), checkpoint, files, new HashMap<>(), meta);
//# end
//# with org.apache.flink.runtime.state.IncrementalKeyedStateHandle$HandleAndLocalPath
        List<HandleAndLocalPath> files = new ArrayList<>();
        for (Object name : names) {
            files.add(HandleAndLocalPath.of(new Handle((String) name, NONE, true, order(position, names.indexOf(name))), (String) name));
        }
        return new IncrementalRemoteKeyedStateHandle(
                BACKEND, KeyGroupRange.of(0, KEY_GROUPS - 1), checkpoint, files, new ArrayList<>(), meta);
//# end
    }

    private static long order(int task, int file) {
        return task * 1_000L + file;
    }

    /** The handle of a piece of state. A handle without a name is the harness's own: its deletion is no effect. */
    private final class Handle extends ByteStreamStateHandle {
        private static final long serialVersionUID = 1L;
        private final transient String name;
        private final transient long checkpoint;
        private final transient boolean isShared;
        private final transient long order;

        Handle(String name, long checkpoint, boolean isShared, long order) {
            super(name == null ? "meta" : name, new byte[0]);
            this.name = name;
            this.checkpoint = checkpoint;
            this.isShared = isShared;
            this.order = order;
        }

        /** Deletes nothing if the registry holds the file: then the handle is only a reference to that file. */
        @Override
        public void discardState() {
            if (name == null || isShared && held().contains(name) || finalized.contains(checkpoint)) {
                return;
            }
            Long place = isShared ? registered.remove(name) : null;
            Long first = isShared ? mentions.getOrDefault(unwritten, Collections.emptyMap()).get(name) : null;
            effects.discard(name, first != null ? first : place == null ? order : place);
        }
    }
}
