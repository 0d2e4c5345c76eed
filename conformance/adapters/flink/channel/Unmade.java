package barrierspec.flink;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Objects of Flink that others only hold: made without their constructor, all fields empty. */
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

    /** One of a class that only some releases have; null in the others. */
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
