package barrierspec.flink;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
//# before 2.0
import org.apache.flink.streaming.api.functions.sink.SinkFunction;
import org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction;
//# end
//# from 2.0
import org.apache.flink.streaming.api.functions.sink.legacy.SinkFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.TwoPhaseCommitSinkFunction;
//# end

/** Flink's own sink function, over `Transactions`. The harness keeps its operator state in a list. */
final class TwoPhase extends TwoPhaseCommitSinkFunction<Object, Long, Void> {
    private static final long serialVersionUID = 1L;

    private final transient Transactions transactions;
    private final transient List<Object> state = new ArrayList<>();

    TwoPhase(Transactions transactions) {
        super(LongSerializer.INSTANCE, VoidSerializer.INSTANCE);
        this.transactions = transactions;
        setRuntimeContext(Fakes.of(RuntimeContext.class, (proxy, method, arguments) -> {
            Class<?> type = method.getReturnType();
            return type.isInterface() ? Fakes.silent(type) : Fakes.nothing(type); // Flink logs the task's name
        }));
    }

    /** Starts the sink from the snapshot of an earlier one; null: from the beginning. */
    void begin(Object snapshot) throws Exception {
        if (snapshot != null) {
            state.addAll((List<?>) snapshot);
        }
        ListState<?> list = Fakes.of(ListState.class, (proxy, method, arguments) -> onState(method, arguments));
        OperatorStateStore store = Fakes.of(OperatorStateStore.class, (proxy, method, arguments) -> list);
        initializeState(Fakes.of(FunctionInitializationContext.class, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "isRestored":
                    return snapshot != null;
                case "getOperatorStateStore":
                    return store;
                default:
                    throw new IllegalStateException("unexpected call of the context: " + method);
            }
        }));
    }

    private Object onState(Method method, Object[] arguments) {
        switch (method.getName()) {
            case "get":
                return new ArrayList<>(state);
            case "clear":
                state.clear();
                return null;
            case "add":
                state.add(copied(arguments[0]));
                return null;
            case "update":
                state.clear();
                ((List<?>) arguments[0]).forEach(one -> state.add(copied(one)));
                return null;
            default:
                throw new IllegalStateException("unexpected call of the state: " + method);
        }
    }

    /** A copy of a state through Flink's own serializer, as if it was written and read. */
    @SuppressWarnings("unchecked")
    private static Object copied(Object one) {
        TypeSerializer<Object> serializer = (TypeSerializer<Object>) (TypeSerializer<?>)
                new StateSerializer<>(LongSerializer.INSTANCE, VoidSerializer.INSTANCE);
        return Bytes.through(serializer, one);
    }

    /** Takes a snapshot. Returns the state that is stored with it. */
    List<Object> snapshot(long id) throws Exception {
        snapshotState(Fakes.of(FunctionSnapshotContext.class, (proxy, method, arguments) -> {
            if (method.getName().equals("getCheckpointId")) {
                return id;
            }
            throw new IllegalStateException("unexpected call of the snapshot: " + method);
        }));
        return new ArrayList<>(state);
    }

    void write(Object value) throws Exception {
        invoke(value, (SinkFunction.Context) null);
    }

    /** The open transaction; null: none. */
    Long open() {
        Object holder = Fields.get(this, "currentTransactionHolder");
        return holder == null ? null : (Long) Fields.get(holder, "handle");
    }

    void pending(List<Object> into) {
        ((Map<?, ?>) Fields.get(this, "pendingCommitTransactions"))
                .forEach((checkpoint, holder) -> into.add(Arrays.asList(checkpoint, Fields.get(holder, "handle"))));
    }

    @Override
    protected void invoke(Long transaction, Object value, SinkFunction.Context context) {
        transactions.write(transaction, value);
    }

    @Override
    protected Long beginTransaction() {
        return transactions.begin();
    }

    @Override
    protected void preCommit(Long transaction) {
        transactions.preCommit(transaction);
    }

    @Override
    protected void commit(Long transaction) {
        transactions.commit(transaction);
    }

    @Override
    protected void abort(Long transaction) {
        transactions.abort(transaction);
    }
}
