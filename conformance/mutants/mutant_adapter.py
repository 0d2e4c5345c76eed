"""A mutant as an implementation under test: `python -m conformance.mutants.mutant_adapter ID`.

This process loads the mutated layer, `model` or `impl`, and answers frames of the adapter protocol on stdin
and stdout. The process that sends the frames has the unmutated model.
"""

import sys

from conformance.mutants.catalogue import mutant_of
from conformance.mutants.source_edit import install


def main(identity: str) -> None:
    """Serve until `bye` or the end of the input.

    Raises EditError if the mutant's edit does not fit the source, CatalogueError if no mutant has this id.
    """
    mutant = mutant_of(identity)
    install(mutant.module, mutant.find, mutant.replace)
    from conformance.adapters.choose import ours
    from conformance.adapters.serve import serve

    serve(ours(mutant.layer), sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main(sys.argv[1])
