package barrierspec.flink;

import java.io.IOException;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.DeserializationFeature;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.SerializationFeature;

/** JSON by the Jackson inside flink-dist: whole numbers are Long, and keys are written sorted, without spaces. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(DeserializationFeature.USE_LONG_FOR_INTS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

    private Json() {}

    /** The value of a JSON text. Throws Refused if the text is not JSON. */
    static Object read(byte[] text) {
        try {
            return MAPPER.readValue(text, Object.class);
        } catch (IOException | StackOverflowError invalid) {
            throw new Refused("expected one JSON value, got: " + invalid.getMessage());
        }
    }

    /** The value as an object. Throws Refused, with `name` in the message, if it is another kind of value. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value, String what) {
        if (!(value instanceof Map)) {
            throw new Refused(what + ": expected an object, got " + value);
        }
        return (Map<String, Object>) value;
    }

    /** The JSON text of a value that `read` returned, or of maps and lists of such values. */
    static byte[] write(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
