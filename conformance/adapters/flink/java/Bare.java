package barrierspec.flink;

import java.lang.reflect.Constructor;

/** Objects that no constructor of their class has made: their fields are set one by one. */
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
