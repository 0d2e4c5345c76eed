package barrierspec.flink;

import java.lang.reflect.Method;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;

/** The answers of an environment to a task without inputs. */
final class TaskParts {
    private TaskParts() {}

    /** The answer to a method of `Environment`; nothing for a method that needs no value. */
    static Object answer(Method method) {
        switch (method.getName()) {
            case "getAllInputGates":
                return noGates();
            case "getJobConfiguration":
                return new Configuration();
            case "getTaskInfo":
                return info();
            case "getExecutionConfig":
                return new ExecutionConfig();
            case "getMetricGroup":
                return UnregisteredMetricGroups.createUnregisteredTaskMetricGroup();
            default:
                return Fakes.nothing(method.getReturnType());
        }
    }
//# from 1.11

    private static Object noGates() {
        return new org.apache.flink.runtime.io.network.partition.consumer.IndexedInputGate[0];
    }
//# end
//# before 1.11

    private static Object noGates() {
        return new org.apache.flink.runtime.io.network.partition.consumer.InputGate[0];
    }
//# end
//# with org.apache.flink.api.common.TaskInfoImpl

    private static Object info() {
        return new org.apache.flink.api.common.TaskInfoImpl("task", 1, 0, 1, 0);
    }
//# end
//# without org.apache.flink.api.common.TaskInfoImpl

    private static Object info() {
        return new org.apache.flink.api.common.TaskInfo("task", 1, 0, 1, 0);
    }
//# end
}
