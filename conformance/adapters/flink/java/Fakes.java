package barrierspec.flink;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Fakes of interfaces, for objects of which Flink's classes use no method or only a few. */
final class Fakes {
    private Fakes() {}

    /** A fake whose methods do nothing and return null, 0 or false. */
    static <T> T silent(Class<T> type) {
        return of(type, (proxy, method, arguments) -> nothing(method.getReturnType()));
    }

    /** A fake that passes every call to `handler`. */
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

    /** The default value of this type: null, 0 or false. */
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
