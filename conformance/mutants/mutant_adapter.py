"""A mutant as an implementation of its own: `python -m conformance.mutants.mutant_adapter ID`.

Answers frames of the adapter protocol on stdin and stdout with the mutated layer, `model` or `impl`, of this
process. The process that drives it has the model unmutated.
"""

import sys

from conformance.mutants.catalogue import mutant_of
from conformance.mutants.source_edit import install


def main(identity: str) -> None:
    """Serve until `bye` or the end of the input.

    Raises EditError if the mutant does not fit, CatalogueError if there is none of this id.
    """
    mutant = mutant_of(identity)
    install(mutant.module, mutant.find, mutant.replace)
    from conformance.adapters.choose import ours
    from conformance.adapters.serve import serve

    serve(ours(mutant.layer), sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main(sys.argv[1])
