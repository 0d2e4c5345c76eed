//# before 1.10
package org.apache.flink.runtime.io.network.api.writer;

import java.util.function.Consumer;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.runtime.event.AbstractEvent;

/** A writer that passes on its events. It is in Flink's package for its superclass, and no constructor runs. */
public final class EventWriter extends RecordWriter<IOReadableWritable> {
    private Consumer<AbstractEvent> events;

    private EventWriter() {
        super(null, null, 0, null);
    }

    /** Sets the receiver of the events. Call it once, before the first event. */
    public void goTo(Consumer<AbstractEvent> events) {
        this.events = events;
    }

    @Override
    public void broadcastEvent(AbstractEvent event) {
        events.accept(event);
    }
}
//# end
