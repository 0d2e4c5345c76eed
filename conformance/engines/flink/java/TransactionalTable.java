package barrierspec.engines;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
//# from 2.0
import org.apache.flink.streaming.api.functions.sink.legacy.TwoPhaseCommitSinkFunction;
//# end
//# before 2.0
import org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction;
//# end

/** Uses PostgreSQL's transactions: the pre-commit prepares one, and any session can commit it by its name. */
final class TransactionalTable extends TwoPhaseCommitSinkFunction<String, String, Void> {
    /** SQLSTATE for a name that is not prepared, here of a transaction that has already ended. */
    private static final String NOT_PREPARED = "42704";

    private final String url;
    private transient Connection writes;
    private transient Connection decides;
    private transient PreparedStatement insert;
    private transient String open;

    TransactionalTable(String url) {
        super(StringSerializer.INSTANCE, VoidSerializer.INSTANCE);
        this.url = url;
    }

    @Override
    protected String beginTransaction() throws SQLException {
        if (writes == null) {
            writes = DriverManager.getConnection(url);
            insert = writes.prepareStatement("INSERT INTO committed VALUES (?)");
        }
        execute(writes, "BEGIN");
        open = UUID.randomUUID().toString();
        return open;
    }

    @Override
    protected void invoke(String name, String row, Context context) throws SQLException {
        insert.setString(1, row);
        insert.executeUpdate();
    }

    @Override
    protected void preCommit(String name) throws SQLException {
        execute(writes, "PREPARE TRANSACTION '" + name + "'");
        open = null;
    }

    @Override
    protected void commit(String name) {
        decide("COMMIT PREPARED", name);
    }

    @Override
    protected void abort(String name) {
        if (!name.equals(open)) {
            decide("ROLLBACK PREPARED", name);
            return;
        }
        try {
            open = null;
            execute(writes, "ROLLBACK");
        } catch (SQLException failed) {
            throw new IllegalStateException("expected to roll back " + name, failed);
        }
    }

    @Override
    public void close() throws Exception {
        try {
            super.close();
        } finally {
            for (Connection one : new Connection[] {writes, decides}) {
                if (one != null) {
                    one.close();
                }
            }
        }
    }

    private void decide(String how, String name) {
        try {
            if (decides == null) {
                decides = DriverManager.getConnection(url);
            }
            execute(decides, how + " '" + name + "'");
        } catch (SQLException failed) {
            if (!NOT_PREPARED.equals(failed.getSQLState())) {
                throw new IllegalStateException("expected to " + how + " " + name, failed);
            }
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
