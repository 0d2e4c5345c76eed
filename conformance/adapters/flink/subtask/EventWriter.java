//# before 1.10
package org.apache.flink.runtime.io.network.api.writer;

import java.util.function.Consumer;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.runtime.event.AbstractEvent;

/** A writer that passes its events on; its class has no constructor outside its package. None of it ever runs. */
public final class EventWriter extends RecordWriter<IOReadableWritable> {
    private Consumer<AbstractEvent> events;

    private EventWriter() {
        super(null, null, 0, null);
    }

    /** To whom the events go; set once, before the first. */
    public void goTo(Consumer<AbstractEvent> events) {
        this.events = events;
    }

    @Override
    public void broadcastEvent(AbstractEvent event) {
        events.accept(event);
    }
}
//# end
