"""Runs many cases: `python -m tests.fuzz --cases 1000 --seed 7 --kind files`.

Ends with 1 if one is a finding.
"""

# ruff: noqa: T201 - this program prints to the terminal
import argparse
import sys

from tests.fuzz.campaign import KINDS, cases_of, findings


def main() -> int:
    """Parses the arguments, runs the cases and prints the findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--cases", type=int, default=300, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="this case alone, with its output")
    chosen = parser.parse_args()
    kinds = list(KINDS) if chosen.kind == "all" else [chosen.kind]
    found = 0
    for kind in kinds:
        numbers = [chosen.only] if chosen.only is not None else list(cases_of(chosen.cases))
        print(f"{kind}: {len(numbers)} cases, seed {chosen.seed}", flush=True)
        for finding in findings(kind, chosen.seed, numbers, say=print if chosen.only is not None else None):
            found += 1
            print(finding, flush=True)
    print(f"{found} findings, seed {chosen.seed}")
    return 1 if found else 0


sys.exit(main())
