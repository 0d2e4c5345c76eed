package barrierspec.flink;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Makes objects of Flink's classes without a constructor, all fields empty. Other objects only refer to them. */
final class Unmade {
    private static final Unsafe UNSAFE = unsafe();

    private Unmade() {}

    static <T> T of(Class<T> type) {
        try {
            return type.cast(UNSAFE.allocateInstance(type));
        } catch (InstantiationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** An object of this class; null if the release does not have the class. */
    static Object named(String type) {
        try {
            return of(Class.forName(type));
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
