package barrierspec.flink;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;

/** Uses constructors, methods and fields of Flink whose types differ by release. It finds them by name and type. */
final class Reflect {
    private Reflect() {}

    /**
     * An object of this class, made by the constructor with the most parameters that can all be filled.
     *
     * <p>Each parameter takes the first offered value that fits its type and was not used yet; numbers and
     * booleans may be used again. A parameter of an interface type that no value fits takes a fake (`Fakes.silent`).
     */
    static <T> T make(Class<T> type, Object... offered) {
        return makeWith(null, type, offered);
    }

    /** As `make`. If `needed` is not null, the constructor must have a parameter of this class. */
    static <T> T makeWith(Class<?> needed, Class<T> type, Object... offered) {
        Constructor<?>[] constructors = type.getDeclaredConstructors();
        Arrays.sort(constructors, Comparator.<Constructor<?>>comparingInt(Constructor::getParameterCount).reversed());
        for (Constructor<?> constructor : constructors) {
            boolean has = needed == null || Arrays.asList(constructor.getParameterTypes()).contains(needed);
            Object[] arguments = has ? fill(constructor.getParameterTypes(), offered) : null;
            if (arguments != null) {
                constructor.setAccessible(true);
                try {
                    return type.cast(constructor.newInstance(arguments));
                } catch (InvocationTargetException thrown) {
                    throw new IllegalStateException(type + ": " + thrown.getCause(), thrown.getCause());
                } catch (ReflectiveOperationException impossible) {
                    throw new IllegalStateException(impossible);
                }
            }
        }
        throw new IllegalStateException(type + " has no constructor for " + Arrays.toString(offered));
    }

    /** An offered value: a parameter of this type takes null. */
    static final class None {
        private final String type;

        None(String type) {
            this.type = type;
        }
    }

    private static Object[] fill(Class<?>[] types, Object[] offered) {
        boolean[] taken = new boolean[offered.length];
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            int found = -1;
            for (int k = 0; k < offered.length && found < 0; k++) {
                if (!taken[k] && (boxed(types[i]).isInstance(offered[k]) || isNone(offered[k], types[i]))) {
                    found = k;
                }
            }
            if (found >= 0) {
                arguments[i] = offered[found] instanceof None ? null : offered[found];
                taken[found] = !(types[i].isPrimitive());
            } else if (types[i].isInterface()) {
                arguments[i] = Fakes.silent(types[i]);
            } else {
                return null;
            }
        }
        return arguments;
    }

    private static boolean isNone(Object offered, Class<?> type) {
        return offered instanceof None && ((None) offered).type.equals(type.getName());
    }

    private static Class<?> boxed(Class<?> type) {
        if (type == int.class) {
            return Integer.class;
        }
        if (type == long.class) {
            return Long.class;
        }
        return type == boolean.class ? Boolean.class : type;
    }

    /** Calls the method with this name and this number of arguments. Throws what the method throws. */
    static Object call(Object owner, String name, Object... arguments) throws Exception {
        Method method = method(owner.getClass(), name, arguments.length);
        if (method == null) {
            throw new IllegalStateException(owner.getClass() + " has no method " + name);
        }
        return invoke(method, owner, arguments);
    }

    /** Whether the class has a method with this name and number of arguments, of any types. */
    static boolean has(Class<?> type, String name, int arguments) {
        return method(type, name, arguments) != null;
    }

    /** Calls the method of this name. Fills each parameter with an offered value of its type. */
    static Object callFilled(Object owner, String name, Object... offered) throws Exception {
        for (Class<?> at = owner.getClass(); at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (method.getName().equals(name) && !method.isBridge()) {
                    Object[] arguments = fill(method.getParameterTypes(), offered);
                    if (arguments != null) {
                        return invoke(method, owner, arguments);
                    }
                }
            }
        }
        throw new IllegalStateException(owner.getClass() + " has no fitting method " + name);
    }

    private static Object invoke(Method method, Object owner, Object[] arguments) throws Exception {
        method.setAccessible(true);
        try {
            return method.invoke(owner, arguments);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Exception) {
                throw (Exception) thrown.getCause();
            }
            throw (Error) thrown.getCause();
        }
    }

    private static Method method(Class<?> type, String name, int arguments) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == arguments && !method.isBridge()) {
                    return method;
                }
            }
        }
        return null;
    }

    /** Sets a private field. */
    static void set(Object owner, String name, Object value) {
        try {
            field(owner, name).set(owner, value);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The declared type of a private field. */
    static Class<?> type(Object owner, String name) {
        return field(owner, name).getType();
    }

    private static Field field(Object owner, String name) {
        for (Class<?> at = owner.getClass(); at != null; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        throw new IllegalStateException(
                owner.getClass().getName() + " has no field " + name + ": the harness does not support this release;"
                        + " see docs/verify/released-flinks.md");
    }
}
