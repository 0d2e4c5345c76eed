package barrierspec.flink;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;

/** Copies an object through a serializer of Flink: it writes the object to bytes and reads a new one from them. */
final class Bytes {
    private Bytes() {}

    static <T> T through(TypeSerializer<T> serializer, T one) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            serializer.serialize(one, new DataOutputViewStreamWrapper(bytes));
            return serializer.deserialize(new DataInputViewStreamWrapper(new ByteArrayInputStream(bytes.toByteArray())));
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
