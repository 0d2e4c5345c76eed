"""A round's driver as a process that can be killed: `python -m conformance.torture.child SPEC`.

SPEC is a JSON file: the round, its folder, the master, the faults that are left, and whether to resume. The
result is written beside it when the job has finished; a driver that was killed has written none.
"""

import sys
from pathlib import Path
from typing import Any

import orjson

from conformance.torture.local import execute
from conformance.torture.rounds import Round
from impl.faults import FaultPlan
from impl.spark.session import spark_session


def run_child(spec: dict[str, Any]) -> dict[str, Any]:
    """Run what the specification says; answers what the parent needs to know of the result."""
    planned, folder = Round.from_json(spec["round"]), Path(spec["folder"])
    faults = tuple(FaultPlan(**one) for one in spec["faults"])
    with spark_session(spec["master"], folder / "spark.log", "torture") as spark:
        result = execute(planned, folder, spark, spec["master"], faults, resume=spec["resume"])
    return {
        "attempts": len(result.attempts),
        "checkpoints": len(result.checkpoints),
        "refused": len(result.refused),
        "recoveries": list(result.recoveries),
    }


def main(path: str) -> None:
    """Run a specification and write its result beside it."""
    spec = Path(path)
    result = run_child(orjson.loads(spec.read_bytes()))
    spec.with_suffix(".result").write_bytes(orjson.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
