"""Prints how soon each engine finds mutants of the gate: `python tests/model/mutated_search.py MUTANT ...`.

It prints one line of JSON for each of three closed models: the number of events of the explorer's shortest
run, and of the kernel's. A number is null if the engine finds nothing. It needs a new process, because it
loads the mutant in place of the module.
"""

import json
import sys

from conformance.mutants.catalogue import mutant_of
from conformance.mutants.source_edit import install


def main(identity: str) -> None:
    mutant = mutant_of(identity)
    install(mutant.module, mutant.find, mutant.replace)
    from model.checker.bounds import bounded_gate
    from model.checker.compiled.columns import explore_columns
    from model.checker.compiled.moves import program_of
    from model.checker.explore import explore
    from model.gate.profiles import PROFILES
    from model.properties import of_component

    properties = of_component("gate")
    for counts, profile in ((True, "flink-1.14"), (False, "flink-1.11"), (False, "flink-1.9")):
        bounded = bounded_gate(2, 3, counts_as_aligned=counts, polled=counts, profile=PROFILES[profile])
        shown = explore(bounded.closed, properties, keep_transitions=False).violation
        found = explore_columns(program_of(*bounded, properties)).violation
        lengths = [one and len(one.run) for one in (shown, found)]
        sys.stdout.write(json.dumps(lengths) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
