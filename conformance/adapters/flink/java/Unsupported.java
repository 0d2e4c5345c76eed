package barrierspec.flink;

/** The release does not offer what the request needs: a skip. */
final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unsupported(String what) {
        super(what, null, false, false);
    }
}
