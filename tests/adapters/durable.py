"""A sink and a store that keep their data in files. The argument names their defect; `right` means none.

A transaction is a file of values. A commit renames this file into `visible/`. A checkpoint of the store is a
file.
"""

import json
import os
import sys
from pathlib import Path

WRONG = sys.argv[1]


class Sink:
    def __init__(self, folder):
        self.folder = folder
        self.new = not (folder / "visible").exists()
        for name in ("visible", "pending", "snapshots"):
            (folder / name).mkdir(exist_ok=True)
        self.running, self.open, self.rows, self.pending, self.kept = self.new, 1, [], [], {}

    def apply(self, event):
        kind, checkpoint = event["kind"], event.get("checkpoint")
        if kind == "write":
            self.rows.append(event["value"])
            if WRONG == "shows-uncommitted":
                self.put(self.folder / "visible" / f"open-{event['value']}", [event["value"]])
        elif kind == "snapshot":
            if WRONG == "few-transactions" and len(self.pending) == 9:
                raise NotImplementedError
            name = f"{os.getpid()}-{checkpoint}"
            if WRONG == "keeps-in-memory":
                self.kept[name] = self.rows
            else:
                self.put(self.folder / "pending" / name, self.rows)
            self.rows = []
            self.pending.append([checkpoint, name])
            self.put(self.folder / "snapshots" / str(checkpoint), self.pending)
        elif kind == "notify_complete":
            self.commit([name for filed, name in self.pending if filed <= checkpoint])
            self.pending = [one for one in self.pending if one[0] > checkpoint]
        elif kind in ("close", "crash"):
            self.running = False
        elif kind == "restore":
            pending = [] if checkpoint is None else self.get(self.folder / "snapshots" / str(checkpoint))
            if WRONG != "forgets-at-restore":
                self.commit([name for _, name in pending])
            self.pending, self.rows, self.running = [], [], True
        return []

    def commit(self, names):
        for name in names:
            rows = self.kept.pop(name, []) if WRONG == "keeps-in-memory" else None
            source = self.folder / "pending" / name
            if rows is None and source.exists():
                rows = self.get(source)
            if rows is None:
                continue
            if WRONG == "commits-in-parts":
                for number, value in enumerate(rows):
                    self.put(self.folder / "visible" / f"{name}-{number}", [value])
            else:
                again = len(list((self.folder / "visible").iterdir())) if WRONG == "doubles" else 0
                self.put(self.folder / "visible" / f"{name}-{again}", rows)
            if WRONG != "doubles" and source.exists():
                source.unlink()

    def visible(self):
        return [value for one in sorted((self.folder / "visible").iterdir()) for value in self.get(one)]

    def observe(self):
        return {"running": self.running}

    @staticmethod
    def put(path, values):
        path.parent.joinpath(f"../.{path.name}").write_text(json.dumps(values))
        os.replace(path.parent.joinpath(f"../.{path.name}"), path)

    @staticmethod
    def get(path):
        return json.loads(path.read_text())


class Store:
    def __init__(self, folder):
        self.folder = folder / "completed"
        self.folder.mkdir(exist_ok=True)
        self.memory = []

    def apply(self, event):
        if event["kind"] == "latest":
            return [{"kind": "latest", "checkpoint": max(self.visible(), default=None)}]
        kept = {one: self.folder.joinpath(str(one)).read_text() for one in self.visible()}
        after = {**kept, event["checkpoint"]: event["type"]}
        newest = max((one for one, kind in after.items() if kind == "checkpoint"), default=None)
        drop = []
        for one in sorted(after)[:-1]:
            if len(after) - len(drop) > 2 and one != newest:
                drop.append(one)
        if WRONG == "drops-first":
            for one in drop:
                self.folder.joinpath(str(one)).unlink()
        temporary = self.folder.parent / ".new"
        temporary.write_text(event["type"])
        os.replace(temporary, self.folder / str(event["checkpoint"]))
        if WRONG == "never-drops":
            drop = []
        for one in drop:
            self.folder.joinpath(str(one)).unlink(missing_ok=True)
        return []

    def visible(self):
        return sorted(int(one.name) for one in self.folder.iterdir())

    def observe(self):
        return {"completed": self.visible()}


def answer(request, made):
    op = request["op"]
    if op == "hello":
        offer = {"modes": [], "profiles": [], "capabilities": ["observe", "restart"]}
        return {
            "protocol": 1, "implementation": f"durable-{WRONG}", "version": "1", "language": "python",
            "components": {"sink": offer, "store": offer},
        }  # fmt: skip
    if op == "new":
        made[:] = [{"sink": Sink, "store": Store}[request["component"]](Path(request["folder"]))]
    elif op == "apply":
        try:
            effects = [made[0].apply(event) for event in request["events"]]
        except NotImplementedError:
            return {"unsupported": "more than nine pending transactions"}
        return {"effects": effects, "state": made[0].observe()}
    elif op == "observe":
        return {"visible": made[0].visible()}
    return {"ok": True}


if __name__ == "__main__":
    instances = []
    for line in sys.stdin:
        frame = json.loads(line)
        sys.stdout.write(json.dumps({"seq": frame["seq"], **answer(frame, instances)}) + "\n")
        sys.stdout.flush()
