package barrierspec.words;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/** The connector `words` of SQL: as a source the rows of `WordSource`, as a sink `NewestUpdates`. */
public final class WordTables implements DynamicTableSourceFactory, DynamicTableSinkFactory {
    private static final ConfigOption<String> FOLDER =
            ConfigOptions.key("folder").stringType().noDefaultValue();
    private static final ConfigOption<Integer> PARTS = ConfigOptions.key("parts").intType().defaultValue(2);
    private static final ConfigOption<Double> RATE =
            ConfigOptions.key("rows-per-second").doubleType().defaultValue(0.0);

    private static final ConfigOption<String> BEGUN = ConfigOptions.key("begun").stringType().defaultValue("");

    @Override
    public String factoryIdentifier() {
        return "words";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(FOLDER);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(PARTS, RATE, BEGUN);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper options = FactoryUtil.createTableFactoryHelper(this, context);
        options.validate();
        return new Words(new WordSource<>(
                options.getOptions().get(FOLDER),
                options.getOptions().get(PARTS),
                options.getOptions().get(RATE),
                options.getOptions().get(BEGUN),
                new Rows.OfTable()));
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        FactoryUtil.TableFactoryHelper options = FactoryUtil.createTableFactoryHelper(this, context);
        options.validate();
        return new Updates(options.getOptions().get(FOLDER));
    }

    private static final class Words implements ScanTableSource {
        private final WordSource<RowData> source;

        Words(WordSource<RowData> source) {
            this.source = source;
        }

        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return SourceProvider.of(source);
        }

        @Override
        public DynamicTableSource copy() {
            return new Words(source);
        }

        @Override
        public String asSummaryString() {
            return "words";
        }
    }

    private static final class Updates implements DynamicTableSink {
        private final String folder;

        Updates(String folder) {
            this.folder = folder;
        }

        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return ChangelogMode.upsert();
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            return SinkV2Provider.of(new NewestUpdates<>(folder, new OfRow()));
        }

        @Override
        public DynamicTableSink copy() {
            return new Updates(folder);
        }

        @Override
        public String asSummaryString() {
            return "updates";
        }
    }

    /** Reads the word, the number of rows and the sum in a row of SQL. */
    private static final class OfRow implements NewestUpdates.Update<RowData> {
        @Override
        public Object word(RowData row) {
            return row.getString(0);
        }

        @Override
        public Object kept(Object word) {
            return ((BinaryStringData) word).copy();
        }

        @Override
        public long count(RowData row) {
            return row.getLong(1);
        }

        @Override
        public long total(RowData row) {
            return row.getLong(2);
        }
    }
}
