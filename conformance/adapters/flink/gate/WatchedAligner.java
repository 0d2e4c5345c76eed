//# before 1.12
package org.apache.flink.streaming.runtime.io;

import java.io.IOException;
import java.util.function.IntConsumer;
import org.apache.flink.runtime.jobgraph.tasks.AbstractInvokable;
//# end
//# from 1.11 before 1.12
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
//# end
//# before 1.12

/**
 * The aligner of the releases up to 1.11. Flink reports no blocked channel there, so this class overrides the
 * methods that block and resume. It is in this package because the constructor is visible only here.
 */
public final class WatchedAligner extends CheckpointBarrierAligner {
    private final IntConsumer blocks;
//# end
//# before 1.11
    private final IntConsumer resumes;
    private final int channels;

    public WatchedAligner(int channels, AbstractInvokable task, IntConsumer blocks, IntConsumer resumes) {
        super(channels, "task", task);
        this.channels = channels;
        this.blocks = blocks;
        this.resumes = resumes;
    }

    @Override
    protected void onBarrier(int channel) throws IOException {
        super.onBarrier(channel);
        blocks.accept(channel);
    }
//# end
//# from 1.10 before 1.11

    @Override
    public void releaseBlocksAndResetBarriers() {
        reportBlocked();
        super.releaseBlocksAndResetBarriers();
    }
//# end
//# before 1.10

    @Override
    public void releaseBlocksAndResetBarriers() throws IOException {
        reportBlocked();
        super.releaseBlocksAndResetBarriers();
    }
//# end
//# before 1.11

    private void reportBlocked() {
        for (int channel = 0; channel < channels; channel++) {
            if (isBlocked(channel)) {
                resumes.accept(channel);
            }
        }
    }
}
//# end
//# from 1.11 before 1.12

    public WatchedAligner(AbstractInvokable task, IntConsumer blocks, InputGate gate) {
        super("task", task, gate);
        this.blocks = blocks;
    }

    @Override
    protected void onBarrier(InputChannelInfo channel) throws IOException {
        super.onBarrier(channel);
        blocks.accept(channel.getInputChannelIdx());
    }
}
//# end
