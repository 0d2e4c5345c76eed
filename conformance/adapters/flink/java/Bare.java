package barrierspec.flink;

import java.lang.reflect.Constructor;

/** Makes objects without running a constructor of their class. Callers set the fields one by one. */
final class Bare {
    private Bare() {}

    static <T> T of(Class<T> type) {
        try {
            Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
            Object maker = factory.getMethod("getReflectionFactory").invoke(null);
            Object made = factory.getMethod("newConstructorForSerialization", Class.class, Constructor.class)
                    .invoke(maker, type, Object.class.getDeclaredConstructor());
            return type.cast(((Constructor<?>) made).newInstance());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
