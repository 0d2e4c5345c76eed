package barrierspec.flink;

import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;

/** Reads private fields of Flink's objects. It looks up a field once for each class. */
final class Fields {
    private static final Map<String, Field> FOUND = new HashMap<>();

    private Fields() {}

    /** Whether objects of this class have the field. */
    static boolean has(Object owner, String name) {
        return find(owner.getClass(), name) != null;
    }

    /** The value of a field. Throws IllegalStateException if the class has no such field: an unsupported release. */
    static Object get(Object owner, String name) {
        Field field = find(owner.getClass(), name);
        if (field == null) {
            throw new IllegalStateException(
                    owner.getClass().getName() + " has no field " + name + ": the harness does not support this"
                            + " release; see docs/verify/released-flinks.md");
        }
        try {
            return field.get(owner);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Field find(Class<?> type, String name) {
        String key = type.getName() + '#' + name;
        if (!FOUND.containsKey(key)) {
            FOUND.put(key, declared(type, name));
        }
        return FOUND.get(key);
    }

    private static Field declared(Class<?> type, String name) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        return null;
    }
}
