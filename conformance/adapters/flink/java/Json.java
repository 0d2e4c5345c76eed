package barrierspec.flink;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** JSON as the protocol needs it: whole numbers are Long, and writing sorts the keys and adds no space. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** One value; raises Refused if the text is no JSON. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.unexpected("the end");
        }
        return value;
    }

    /** The value as an object; raises Refused, naming what was read. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value, String what) {
        if (!(value instanceof Map)) {
            throw new Refused(what + ": expected an object, got " + value);
        }
        return (Map<String, Object>) value;
    }

    /** Write a value that was read. */
    static void write(Object value, StringBuilder out) {
        if (value instanceof String) {
            quote((String) value, out);
        } else if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> entry : new TreeMap<>((Map<?, ?>) value).entrySet()) {
                quote((String) entry.getKey(), out.append(before));
                write(entry.getValue(), out.append(':'));
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof List) {
            char before = '[';
            for (Object element : (List<?>) value) {
                write(element, out.append(before));
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else {
            out.append(value);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int position = 0; position < text.length(); position++) {
            char c = text.charAt(position);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c >= ' ') {
                out.append(c);
            } else if (c == '\n') {
                out.append("\\n");
            } else if (c == '\t') {
                out.append("\\t");
            } else if (c == '\r') {
                out.append("\\r");
            } else if (c == '\b') {
                out.append("\\b");
            } else if (c == '\f') {
                out.append("\\f");
            } else {
                out.append(String.format("\\u%04x", (int) c));
            }
        }
        out.append('"');
    }

    private Object value() {
        space();
        char c = at < text.length() ? text.charAt(at) : ' ';
        if (c == '{') {
            return members();
        }
        if (c == '[') {
            return elements();
        }
        if (c == '"') {
            return string();
        }
        if (c == '-' || c >= '0' && c <= '9') {
            return number();
        }
        if (word("true")) {
            return Boolean.TRUE;
        }
        if (word("false")) {
            return Boolean.FALSE;
        }
        if (word("null")) {
            return null;
        }
        throw unexpected("a value");
    }

    private Map<String, Object> members() {
        Map<String, Object> members = new HashMap<>(8);
        at++;
        space();
        if (taken('}')) {
            return members;
        }
        do {
            space();
            String key = string();
            space();
            if (!taken(':')) {
                throw unexpected("`:`");
            }
            members.put(key, value());
            space();
        } while (taken(','));
        if (!taken('}')) {
            throw unexpected("`}`");
        }
        return members;
    }

    private List<Object> elements() {
        List<Object> elements = new ArrayList<>();
        at++;
        space();
        if (taken(']')) {
            return elements;
        }
        do {
            elements.add(value());
            space();
        } while (taken(','));
        if (!taken(']')) {
            throw unexpected("`]`");
        }
        return elements;
    }

    private String string() {
        if (!taken('"')) {
            throw unexpected("a string");
        }
        int end = at;
        while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\\') {
            end++;
        }
        if (end < text.length() && text.charAt(end) == '"') { // nearly always: nothing is escaped
            String plain = text.substring(at, end);
            at = end + 1;
            return plain;
        }
        StringBuilder read = new StringBuilder();
        while (!taken('"')) {
            if (at >= text.length()) {
                throw unexpected("the end of a string");
            }
            char c = text.charAt(at++);
            read.append(c == '\\' ? escaped() : c);
        }
        return read.toString();
    }

    private char escaped() {
        char c = at < text.length() ? text.charAt(at++) : ' ';
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                at += 4;
                if (at > text.length()) {
                    throw unexpected("four digits");
                }
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private Object number() {
        int begin = at;
        boolean whole = true;
        long sum = 0;
        if (text.charAt(at) == '-') {
            at++;
        }
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c >= '0' && c <= '9') {
                sum = 10 * sum + (c - '0');
            } else if (c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-') {
                whole = false;
            } else {
                break;
            }
        }
        if (whole && at - begin < 19) {
            return text.charAt(begin) == '-' ? -sum : sum;
        }
        String digits = text.substring(begin, at);
        try {
            return whole ? new BigInteger(digits) : new BigDecimal(digits);
        } catch (NumberFormatException error) {
            throw unexpected("a number");
        }
    }

    private boolean word(String expected) {
        boolean here = text.startsWith(expected, at);
        at += here ? expected.length() : 0;
        return here;
    }

    private boolean taken(char expected) {
        boolean here = at < text.length() && text.charAt(at) == expected;
        at += here ? 1 : 0;
        return here;
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private Refused unexpected(String wanted) {
        String came = text.substring(Math.min(at, text.length()), Math.min(at + 20, text.length()));
        return new Refused("expected JSON with " + wanted + " at " + at + ", got `" + came + "`");
    }
}
