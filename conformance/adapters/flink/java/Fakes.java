package barrierspec.flink;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Stand-ins for interfaces whose methods a gate does not use, or of which it uses a few. */
final class Fakes {
    private Fakes() {}

    /** Every method answers nothing: null, 0 or false. */
    static <T> T silent(Class<T> type) {
        return of(type, (proxy, method, arguments) -> nothing(method.getReturnType()));
    }

    /** What is called goes to `handler`. */
    static <T> T of(Class<T> type, InvocationHandler handler) {
        InvocationHandler withIdentity =
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "hashCode":
                            return System.identityHashCode(proxy);
                        case "equals":
                            return proxy == arguments[0];
                        case "toString":
                            return "a stand-in for " + type.getSimpleName();
                        default:
                            return handler.invoke(proxy, method, arguments);
                    }
                };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, withIdentity));
    }

    /** What a method of this type returns when it has nothing to say. */
    static Object nothing(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        if (type == int.class) {
            return 0;
        }
        return type == long.class ? (Object) 0L : null;
    }
}
