package barrierspec.flink;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The adapter of one Flink release: it reads requests on stdin, drives Flink's classes, and answers on stdout.
 *
 * <p>Answers have sorted keys and no spaces. So the suite can compare a line with the line that it expects, and
 * parses it only if the two differ.
 */
public final class Main {
    private static final int PROTOCOL = 1;

    private final Release release;
    private Component component;

    private Main(Release release) {
        this.release = release;
    }

    /**
     * Arguments: the release; the profiles of its gate, its coordinator, its channels, its subtasks, its sources; and the
     * number of input gates among which a task divides its channels.
     */
    public static void main(String[] args) throws IOException {
        int gates = Integer.parseInt(args[6]);
        new Main(new Release(args[0], args[1], args[2], args[3], args[4], args[5], gates)).serve(System.in, System.out);
    }

    private void serve(InputStream in, OutputStream stdout) throws IOException {
        Lines lines = new Lines(new BufferedInputStream(in, 1 << 16));
        OutputStream answers = new BufferedOutputStream(stdout, 1 << 16);
        boolean last = false;
        for (byte[] line = lines.next(); line != null && !last; line = last ? null : lines.next()) {
            Map<String, Object> answer = new TreeMap<>();
            last = answer(line, answer);
            answers.write(Json.write(answer));
            answers.write('\n');
            if (last || !lines.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    /** Fills in the answer to one line. Returns true if it is the last one. */
    private boolean answer(byte[] line, Map<String, Object> answer) {
        answer.put("seq", null);
        try {
            Map<String, Object> request = Json.object(Json.read(line), "frame");
            answer.put("seq", (Long) request.get("seq"));
            String op = String.valueOf(request.get("op"));
            switch (op) {
                case "hello":
                    release.hello(answer, PROTOCOL);
                    return false;
                case "new":
                    component = null;
                    component = Components.make(
                            String.valueOf(request.get("component")),
                            Json.object(request.get("config"), "config"),
                            release);
                    answer.put("ok", true);
                    return false;
                case "apply":
                    apply(request.get("events"), answer);
                    return false;
                case "bye":
                    answer.put("ok", true);
                    return true;
                default:
                    throw new Refused("op: expected one of hello, new, apply, bye, got " + op);
            }
        } catch (Unsupported skip) {
            component = null;
            answer.put("unsupported", skip.getMessage());
        } catch (Refused refused) {
            answer.put("error", refused.getMessage());
        }
        return false;
    }

    private void apply(Object events, Map<String, Object> answer) {
        if (component == null) {
            throw new Refused("there is no instance; send `new` first");
        }
        if (!(events instanceof List) || ((List<?>) events).isEmpty()) {
            throw new Refused("events: expected a list with at least one object, got " + events);
        }
        List<Object> effects = new ArrayList<>();
        try {
            for (Object event : (List<?>) events) {
                effects.add(component.take(Json.object(event, "event")));
            }
        } catch (Refused refused) {
            answer.put("at", effects.size());
            throw refused;
        }
        answer.put("effects", effects);
        answer.put("state", component.state());
    }
}
