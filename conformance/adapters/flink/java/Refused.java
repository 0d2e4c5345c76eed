package barrierspec.flink;

/** A request or an event that the protocol does not allow. The message says what was expected and what came. */
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String what) {
        super(what, null, false, false);
    }
}
