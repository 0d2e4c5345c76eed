package barrierspec.flink;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads lines as bytes. Unlike Java's BufferedReader, `ready` is false only if no byte waits. */
final class Lines {
    private final InputStream in;
    private final byte[] chunk = new byte[1 << 16];
    private byte[] held = new byte[1 << 16];
    private int size;
    private int position;
    private int limit;

    Lines(InputStream in) {
        this.in = in;
    }

    /** The next line without its end, or null at the end of the input. */
    byte[] next() throws IOException {
        size = 0;
        while (true) {
            if (position == limit) {
                limit = in.read(chunk, 0, chunk.length);
                position = 0;
                if (limit < 0) {
                    limit = 0;
                    return size == 0 ? null : Arrays.copyOf(held, size);
                }
            }
            int end = position;
            while (end < limit && chunk[end] != '\n') {
                end++;
            }
            int more = end - position;
            if (size + more > held.length) {
                held = Arrays.copyOf(held, Math.max(size + more, 2 * held.length));
            }
            System.arraycopy(chunk, position, held, size, more);
            size += more;
            position = Math.min(end + 1, limit);
            if (end < limit) {
                return Arrays.copyOf(held, size);
            }
        }
    }

    /** Whether bytes wait. If not, the caller must flush its answers before it waits for the next line. */
    boolean ready() throws IOException {
        return position < limit || in.available() > 0;
    }
}
