package barrierspec.engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
//# from 2.0
import org.apache.flink.streaming.api.functions.sink.legacy.TwoPhaseCommitSinkFunction;
//# end
//# before 2.0
import org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction;
//# end

/** A transaction is a hidden file; its commit gives the file its name. */
final class TransactionalFiles extends TwoPhaseCommitSinkFunction<String, String, Void> {
    private final String folder;
    private final boolean early;

    /** `early` is a planted defect: the sink commits when it pre-commits. */
    TransactionalFiles(String folder, boolean early) {
        super(StringSerializer.INSTANCE, VoidSerializer.INSTANCE);
        this.folder = folder;
        this.early = early;
    }

    @Override
    protected String beginTransaction() throws IOException {
        String name = UUID.randomUUID().toString();
        Files.createFile(hidden(name));
        return name;
    }

    @Override
    protected void invoke(String name, String row, Context context) throws IOException {
        Files.write(hidden(name), (row + "\n").getBytes(), StandardOpenOption.APPEND);
    }

    @Override
    protected void preCommit(String name) throws IOException {
        if (early) {
            publish(name);
        }
    }

    @Override
    protected void commit(String name) {
        try {
            publish(name);
        } catch (IOException failed) {
            throw new IllegalStateException("expected to commit " + name, failed);
        }
    }

    @Override
    protected void abort(String name) {
        try {
            Files.deleteIfExists(hidden(name));
        } catch (IOException failed) {
            throw new IllegalStateException("expected to delete " + name, failed);
        }
    }

    private void publish(String name) throws IOException {
        if (Files.exists(hidden(name)) || !Files.exists(Paths.get(folder, name))) {
            Files.move(hidden(name), Paths.get(folder, name), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private Path hidden(String name) {
        return Paths.get(folder, "." + name);
    }
}
