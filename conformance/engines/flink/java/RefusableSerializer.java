package barrierspec.engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes the name of a file, and fails while this file exists.
 *
 * <p>Flink writes the state of an operator in the asynchronous part of a checkpoint. If that fails, the task
 * declines the checkpoint and continues; an exception in the synchronous part would end the task.
 */
public final class RefusableSerializer extends TypeSerializerSingleton<String> {
    static final RefusableSerializer INSTANCE = new RefusableSerializer();

    @Override
    public void serialize(String name, DataOutputView target) throws IOException {
        if (Files.exists(Paths.get(name))) {
            throw new IOException("the campaign has this snapshot declined");
        }
        StringSerializer.INSTANCE.serialize(name, target);
    }

    @Override
    public String deserialize(DataInputView source) throws IOException {
        return StringSerializer.INSTANCE.deserialize(source);
    }

    @Override
    public String deserialize(String reused, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        StringSerializer.INSTANCE.copy(source, target);
    }

    @Override
    public String copy(String name) {
        return name;
    }

    @Override
    public String copy(String name, String reused) {
        return name;
    }

    @Override
    public String createInstance() {
        return "";
    }

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public TypeSerializerSnapshot<String> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The part of a savepoint that describes this serializer: its class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<String> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}
