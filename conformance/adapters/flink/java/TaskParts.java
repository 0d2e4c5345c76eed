package barrierspec.flink;

/** What an environment gives to a task without inputs. */
final class TaskParts {
    private TaskParts() {}
//# from 1.11

    static Object noGates() {
        return new org.apache.flink.runtime.io.network.partition.consumer.IndexedInputGate[0];
    }
//# end
//# before 1.11

    static Object noGates() {
        return new org.apache.flink.runtime.io.network.partition.consumer.InputGate[0];
    }
//# end
//# with org.apache.flink.api.common.TaskInfoImpl

    static Object info() {
        return new org.apache.flink.api.common.TaskInfoImpl("task", 1, 0, 1, 0);
    }
//# end
//# without org.apache.flink.api.common.TaskInfoImpl

    static Object info() {
        return new org.apache.flink.api.common.TaskInfo("task", 1, 0, 1, 0);
    }
//# end
}
