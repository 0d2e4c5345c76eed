package barrierspec.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The sources that are not externally induced: a source function and a reader, with the same events.
 *
 * <p>Both have to answer alike. The effects are those of the first one.
 */
final class PlainSources implements DrivenSource {
    private final List<DrivenSource> sources = new ArrayList<>();
    private final Effects effects;
    private final Effects others = new Effects();

    PlainSources(Effects effects, Release release) {
        this.effects = effects;
        sources.add(new FunctionSource(effects, false));
        if (release.isAtLeast(1, 11)) {
            sources.add(Sourcing.reader(others, false));
        }
    }

    @Override
    public void trigger(long checkpoint, boolean here) throws Exception {
        for (DrivenSource source : sources) {
            source.trigger(checkpoint, here);
        }
    }

    @Override
    public void induce(long checkpoint) {
        throw new Refused("induce: the source is not externally induced");
    }

    @Override
    public void ended(long checkpoint) throws Exception {
        for (DrivenSource source : sources) {
            source.ended(checkpoint);
        }
    }

    @Override
    public void status(boolean running) {
        for (DrivenSource source : sources) {
            source.status(running);
        }
    }

    @Override
    public void settle() throws Exception {
        for (DrivenSource source : sources) {
            source.settle();
        }
        List<Map<String, Object>> first = effects.take();
        List<Map<String, Object>> second = others.take();
        if (sources.size() > 1 && !first.equals(second)) {
            throw new IllegalStateException("a source function has " + first + ", a reader " + second);
        }
        for (Map<String, Object> effect : first) {
            effects.add(effect);
        }
    }

    @Override
    public void describe(Map<String, Object> state) {
        sources.get(0).describe(state);
        for (DrivenSource other : sources) {
            Map<String, Object> same = new TreeMap<>();
            other.describe(same);
            if (!state.equals(same)) {
                throw new IllegalStateException("a source function is in " + state + ", a reader in " + same);
            }
        }
    }
}
