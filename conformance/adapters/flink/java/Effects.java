package barrierspec.flink;

/** Writes what Flink does as effects of the protocol: flat objects with sorted keys, in order. */
final class Effects {
    private StringBuilder out = new StringBuilder();
    private boolean first;

    /** The effects of one event begin. */
    void begin(StringBuilder answer) {
        out = answer.append('[');
        first = true;
    }

    /** The effects of the event are complete. */
    void end() {
        out.append(']');
    }

    void block(int channel) {
        onChannel("block", channel);
    }

    void resume(int channel) {
        onChannel("resume", channel);
    }

    void prioritise(int channel) {
        onChannel("prioritise", channel);
    }

    /** The operator gets a record; `persisted`: and the snapshot too. */
    void process(int channel, Object value, boolean persisted) {
        next().append("{\"channel\":").append(channel);
        out.append(",\"kind\":\"").append(persisted ? "persist" : "process").append("\",\"value\":");
        Json.write(value, out);
        out.append('}');
    }

    void trigger(long checkpoint, boolean unaligned) {
        next().append("{\"checkpoint\":").append(checkpoint).append(",\"kind\":\"trigger\"");
        out.append(unaligned ? ",\"unaligned\":true}" : "}");
    }

    void abort(long checkpoint, String reason) {
        next().append("{\"checkpoint\":").append(checkpoint).append(",\"kind\":\"abort\",\"reason\":\"");
        out.append(reason).append("\"}");
    }

    void startPersisting(long checkpoint) {
        onCheckpoint("start_persisting", checkpoint);
    }

    void stopPersisting(long checkpoint) {
        onCheckpoint("stop_persisting", checkpoint);
    }

    /** An exception from Flink; its message names objects, so that only what it is about is told. */
    void fail(Throwable thrown) {
        String message = String.valueOf(thrown.getMessage());
        boolean repeated = message.contains("Repeated barrier");
        next().append("{\"error\":");
        Json.write(repeated ? "repeated barrier" : thrown.getClass().getSimpleName(), out);
        out.append(",\"kind\":\"fail\"}");
    }

    private void onChannel(String kind, int channel) {
        next().append("{\"channel\":").append(channel).append(",\"kind\":\"").append(kind).append("\"}");
    }

    private void onCheckpoint(String kind, long checkpoint) {
        next().append("{\"checkpoint\":").append(checkpoint);
        out.append(",\"kind\":\"").append(kind).append("\"}");
    }

    private StringBuilder next() {
        if (!first) {
            out.append(',');
        }
        first = false;
        return out;
    }
}
