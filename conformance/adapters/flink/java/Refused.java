package barrierspec.flink;

/** A request or an event that is outside the protocol; the message says what was expected and what came. */
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String what) {
        super(what, null, false, false);
    }
}
