package barrierspec.flink;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Frames of the adapter protocol on stdin and stdout, around the classes of one Flink release.
 *
 * <p>Answers are spelled with sorted keys and without spaces, so that the suite can compare a line
 * with the one it expects before it reads it.
 */
public final class Main {
    private static final int PROTOCOL = 1;

    private final Release release;
    private final StringBuilder out = new StringBuilder(1 << 16);
    private Component component;

    private Main(Release release) {
        this.release = release;
    }

    /** Arguments: the release, and the names of the profiles of its gate, its coordinator, its channels. */
    public static void main(String[] args) throws IOException {
        new Main(new Release(args[0], args[1], args[2], args[3])).serve(System.in, System.out);
    }

    private void serve(InputStream in, OutputStream stdout) throws IOException {
        Lines lines = new Lines(new BufferedInputStream(in, 1 << 16));
        OutputStream answers = new BufferedOutputStream(stdout, 1 << 16);
        for (String line = lines.next(); line != null; line = lines.next()) {
            out.setLength(0);
            boolean last = answer(line);
            answers.write(out.append('\n').toString().getBytes(StandardCharsets.UTF_8));
            if (last || !lines.ready()) {
                answers.flush();
            }
            if (last) {
                return;
            }
        }
        answers.flush();
    }

    /** Write the answer to one line; true if it was the last one. */
    private boolean answer(String line) {
        Long seq = null;
        try {
            Map<String, Object> request = Json.object(Json.read(line), "frame");
            seq = (Long) request.get("seq");
            String op = String.valueOf(request.get("op"));
            switch (op) {
                case "hello":
                    release.hello(out, seq, PROTOCOL);
                    return false;
                case "new":
                    make(request);
                    out.append("{\"ok\":true,\"seq\":").append(seq).append('}');
                    return false;
                case "apply":
                    apply(seq, request);
                    return false;
                case "bye":
                    out.append("{\"ok\":true,\"seq\":").append(seq).append('}');
                    return true;
                default:
                    throw new Refused("op: expected one of hello, new, apply, bye, got " + op);
            }
        } catch (Unsupported skip) {
            component = null;
            failed(seq, "unsupported", skip.getMessage(), -1);
        } catch (Refused refused) {
            failed(seq, "error", refused.getMessage(), -1);
        }
        return false;
    }

    private void make(Map<String, Object> request) {
        component = null;
        component = Components.make(
                String.valueOf(request.get("component")), Json.object(request.get("config"), "config"), release);
    }

    private void apply(Long seq, Map<String, Object> request) {
        if (component == null) {
            throw new Refused("there is no instance; send `new` first");
        }
        Object events = request.get("events");
        if (!(events instanceof List) || ((List<?>) events).isEmpty()) {
            throw new Refused("events: expected a list with at least one object, got " + events);
        }
        out.append("{\"effects\":[");
        int at = 0;
        try {
            for (Object event : (List<?>) events) {
                if (at > 0) {
                    out.append(',');
                }
                component.take(Json.object(event, "event"), out);
                at++;
            }
        } catch (Refused refused) {
            out.setLength(0);
            failed(seq, "error", refused.getMessage(), at);
            return;
        }
        out.append("],\"seq\":").append(seq).append(",\"state\":");
        component.state(out);
        out.append('}');
    }

    /** An answer in place of a result; its keys are sorted too: `at` and `error` stand before `seq`. */
    private void failed(Long seq, String kind, String why, int at) {
        boolean unsupported = kind.equals("unsupported");
        out.setLength(0);
        out.append('{');
        if (at >= 0) {
            out.append("\"at\":").append(at).append(',');
        }
        if (!unsupported) {
            out.append("\"error\":");
            Json.write(why, out);
            out.append(',');
        }
        out.append("\"seq\":").append(seq);
        if (unsupported) {
            out.append(",\"unsupported\":");
            Json.write(why, out);
        }
        out.append('}');
    }
}
