package barrierspec.flink;

/** The release does not offer something that the request needs. The suite skips the case. */
final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unsupported(String what) {
        super(what, null, false, false);
    }
}
