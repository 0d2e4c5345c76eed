"""A Flink cluster of processes on loopback: a job manager with its job, task managers, and ZooKeeper.

The job manager runs in application mode. The ZooKeeper in Flink's own jar stores pointers to the completed
checkpoints, from which a new job manager continues. If a release has no ZooKeeper in its jar, the whole
cluster starts again from the newest retained checkpoint, as Flink's documentation describes.
"""

import signal
import socket
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, assert_never

from conformance.engines.disk import without_disk, without_folder
from conformance.engines.engine import Engine, RoundError
from conformance.engines.feed import LANES
from conformance.engines.flink.commands import java, settings_of, write_configuration
from conformance.engines.flink.distribution import Distribution
from conformance.engines.flink.fault_effects import Effect, present
from conformance.engines.flink.mounted import MountedFolder
from conformance.engines.flink.rest import RestError, RestPoll, read_json
from conformance.engines.flink.state import state_in
from conformance.engines.flink.table import DRIVER, CommittedTable
from conformance.engines.processes import EngineError, Started
from conformance.engines.schedule import Fault, Kind
from conformance.observe.guarantees.guarantee import Totals

MAIN = "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
TASK_MANAGERS = 2
STARTS_SECONDS = 90.0
STOPS_SECONDS = 60.0
_STOPS_TRIED = 10
_STOP_AGAIN_SECONDS = 1.0
"""Flink refuses to stop a job while one of its tasks starts. The request is repeated after this time."""
REPLACED_SECONDS = 12.0
"""Duration of a long freeze. It exceeds `heartbeat.timeout`, so the job manager replaces the task manager."""
EXPIRED_SECONDS = 4.0
"""Duration of a freeze that makes checkpoints expire, between their time-out and `heartbeat.timeout`."""
_WAIT = 0.05
_NO_LOG4J_BEANS = "-Dzookeeper.jmx.log4j.disable=true"
"""Without this option the ZooKeeper in Flink 1.13 looks for a class of Log4j 1."""


def free_port() -> int:
    """A port on which no process listens at the moment."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


@dataclass
class FlinkCluster(Engine):
    """The job on a cluster. Settings: mode, backend, sink, source, parallelism, pause, slow.

    With the setting `checkpoints`, the folder of the checkpoints is a mounted file system, so that faults can
    make checkpoints fail. With a setting `copies` above 1 the job has a planted defect: its state counts each
    record `copies` times.
    """

    distribution: Distribution = field(kw_only=True)
    _rest: int = field(default_factory=free_port, init=False)
    _rpc: int = field(default_factory=free_port, init=False)
    _zookeeper: int = field(default_factory=free_port, init=False)
    _restarts: int = field(default=0, init=False)
    """The number of times that the whole cluster was started again, after a stop or a lost job manager."""
    _from: str | None = field(default=None, init=False)
    """The savepoint or checkpoint from which the last start of the job began."""
    _manager: Started = field(init=False)
    _workers: list[Started] = field(default_factory=list, init=False)
    _table: CommittedTable | None = field(default=None, init=False)
    """The output of a sink that does not write files."""
    _poll: RestPoll | None = field(default=None, init=False)
    _mounted: MountedFolder | None = field(default=None, init=False)

    kinds = frozenset(Kind)
    job_class: ClassVar[str] = "barrierspec.engines.EngineJob"

    def start(self) -> None:
        """Start ZooKeeper, the job manager and the task managers, and the database of a job that needs it."""
        if self.settings["sink"] == "postgres":
            self._table = CommittedTable()
        if "checkpoints" in self.settings:
            self._mounted = MountedFolder(self.place)
        write_configuration(self._conf)
        if self.distribution.zookeeper is not None:
            self._start_zookeeper(self.distribution.zookeeper)
        self._start_manager()
        self._workers = [self._start_worker() for _ in range(TASK_MANAGERS)]
        self._poll = RestPoll(self._rest)

    def inject(self, fault: Fault) -> None:
        """Inject `fault`, and start again the processes that it ended."""
        self._record()
        worker = self._workers[fault.target % TASK_MANAGERS]
        match fault.kind:
            case Kind.KILL_WORKER:
                worker.kill()
                self.supervise_workers()
            case Kind.KILL_COORDINATOR:
                self._kill_manager()
            case Kind.FREEZE:
                frozen = [*self._workers, self._manager][fault.target % (TASK_MANAGERS + 1)]
                with _frozen(frozen):
                    time.sleep(fault.length / 1_000)
            case Kind.LONG_FREEZE:
                with _frozen(worker):
                    time.sleep(REPLACED_SECONDS)
            case Kind.NO_FOLDER:
                without_folder(self.place.checkpoints, fault.length / 1_000)
            case Kind.DISK_FULL:
                without_disk([one.process.pid for one in self._workers], fault.length / 1_000)
            case Kind.STOP:
                self._stop(self.settings["parallelism"])
            case Kind.RESCALE:
                others = [one for one in (1, 2, 3) if one != self.settings["parallelism"]]
                self._stop(others[fault.target % len(others)])
            case Kind.KILL_WHILE_STOPPING:
                self._stop(self.settings["parallelism"], worker, fault.delay / 1_000)
            case Kind.READ_ONLY | Kind.NO_SPACE | Kind.CHECKPOINT_TIMEOUT | Kind.DECLINE:
                self._fail_checkpoints(fault)
            case other:
                assert_never(other)

    def supervise(self) -> None:
        """Start again a job manager or task managers that have ended by themselves."""
        if not self._manager.alive:
            self.ended(f"job manager, {self._manager.process.poll()}: {self._manager.last_line()}")
            self._start_manager()
        for one in self._workers:
            if not one.alive:
                self.ended(f"task manager, {one.process.poll()}: {one.last_line()}")
        self.supervise_workers()

    def supervise_workers(self) -> None:
        """Start a task manager for each one that has ended."""
        self._workers = [one if one.alive else self._start_worker() for one in self._workers]

    def lines(self) -> Sequence[str]:
        """The rows of the table, if the sink writes one; else the rows of the files that are not hidden."""
        if self._table is not None:
            return self._table.lines()
        return [
            line
            for file in sorted(self.place.output.rglob("*"))
            if file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(self.place.output).parts)
            for line in file.read_text(encoding="utf-8").splitlines()
        ]

    def completed(self) -> int | None:
        """The id of the newest completed checkpoint, plus a million for each restart of the job."""
        found = [_number(one) for one in self._metadata(self._restarts)]
        return self._restarts * 1_000_000 + max(found, default=0)

    def state(self) -> dict[Hashable, Totals] | None:
        """Stop the job with a savepoint, and return the state in it. Raises RoundError if there is none."""
        location = self._stop_with_retries()
        if location is None:
            raise RoundError(f"expected a savepoint after {_STOPS_TRIED} requests to stop, got none")
        return state_in(location, self._java(256), self.place)

    @property
    def _conf(self) -> Path:
        return self.place.folder / "conf"

    @property
    def _declined(self) -> Path:
        """While this file exists, the job's operator cannot write its state."""
        return self.place.folder / "declined"

    def close(self) -> None:
        """End the polls and the database, and record their findings."""
        if self._poll is not None:
            self.recorded.append(self._poll.end())
        if self._table is not None:
            with suppress(EngineError):
                self.recorded.append({"prepared": self._table.left()})
            self._table.stop()

    def _metadata(self, restarts: int) -> Iterator[Path]:
        """The folders of the retained checkpoints that the job took after the restart of this number."""
        return (one.parent for one in self._folder(restarts).glob("*/chk-*/_metadata"))

    def _folder(self, restarts: int) -> Path:
        return self.place.checkpoints / f"generation-{restarts}"

    def _start_zookeeper(self, main: str) -> None:
        data = self.place.folder / "zookeeper"
        data.mkdir()
        (self._conf / "zoo.cfg").write_text(
            f"tickTime=2000\ndataDir={data}\nclientPort={self._zookeeper}\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\n",
            encoding="utf-8",
        )
        started = self.place.processes.start(
            "zookeeper", [*self._java(64), _NO_LOG4J_BEANS, main, str(self._conf / "zoo.cfg")]
        )
        until = time.monotonic() + STARTS_SECONDS
        while not _listens(self._zookeeper):
            if time.monotonic() > until or not started.alive:
                raise RoundError(f"ZooKeeper does not listen: {started.last_line()}")
            time.sleep(_WAIT)

    def _start_manager(self) -> None:
        """Start the job manager with the job, from the savepoint or checkpoint in `_from`."""
        words = ["--configDir", str(self._conf), "--job-classname", self.job_class]
        if self._from is not None:
            words += ["--fromSavepoint", self._from]
        words += [*self._properties("job-manager"), f"-Dparallelism.default={self.settings['parallelism']}"]
        words += self.job_words()
        self._manager = self.place.processes.start(
            "job-manager", [*self._java(256), MAIN, *words], self.environment()
        )

    def job_words(self) -> Sequence[str]:
        """The arguments of the job."""
        words = ["--lanes", str(self.place.lanes), "--lane-count", str(LANES)]
        words += ["--output", str(self.place.output), "--progress", str(self.place.progress)]
        words += ["--sink", self.settings["sink"], "--source", self.settings["source"]]
        words += ["--declined", str(self._declined), "--copies", str(self.settings.get("copies", 1))]
        words += ["--pause", str(self.settings["pause"]), "--slow", str(self.settings["slow"])]
        return [*words, "--table", "none" if self._table is None else self._table.url]

    def more_settings(self) -> dict[str, str]:
        """Settings of Flink that only this job needs."""
        return {}

    def environment(self) -> dict[str, str]:
        """Environment variables of the job manager."""
        return {}

    def _start_worker(self) -> Started:
        words = ["--configDir", str(self._conf), *self._properties("task-manager")]
        return self.place.processes.start("task-manager", [*self._java(256), TASK_MANAGER, *words])

    def _kill_manager(self) -> None:
        self._manager.kill()
        if self.distribution.zookeeper is not None:
            self._start_manager()
            return
        for one in self._workers:
            one.kill()
        retained = [*self._metadata(self._restarts)]
        if retained:
            self._from = str(max(retained, key=_number))
        self._start_again()

    def _fail_checkpoints(self, fault: Fault) -> None:
        """Make checkpoints fail for a while, and record the effect."""
        if self._mounted is None:
            raise RoundError(f"expected the setting `checkpoints` for a fault {fault.kind.value}, got none")
        seconds = fault.length / 1_000
        what: AbstractContextManager[None]
        match fault.kind:
            case Kind.READ_ONLY:
                what = self._mounted.read_only()
            case Kind.NO_SPACE:
                what = self._mounted.full()
            case Kind.DECLINE:
                what = present(self._declined)
            case _:
                what, seconds = _frozen(*self._workers), EXPIRED_SECONDS
        self.recorded.append(Effect(fault.kind, self._rest, self.place.processes).of(what, seconds))

    def _stop(self, parallelism: int, killed: Started | None = None, delay: float = 0.0) -> None:
        """Stop the job with a savepoint, and start it from the savepoint.

        `killed`: a process to kill `delay` seconds after the first request to stop.
        """
        location = self._stop_with_retries(killed, delay)
        if location is None:
            return
        self._from = location
        self.settings["parallelism"] = parallelism
        self._manager.kill()
        for one in self._workers:
            one.kill()
        self._start_again()

    def _stop_with_retries(self, killed: Started | None = None, delay: float = 0.0) -> str | None:
        """Request a stop until there is a savepoint. Returns its folder; None after _STOPS_TRIED requests."""
        for _ in range(_STOPS_TRIED):
            location = self._stop_once(killed, delay)
            if location is not None:
                return location
            killed = None
            time.sleep(_STOP_AGAIN_SECONDS)
        return None

    def _stop_once(self, killed: Started | None, delay: float) -> str | None:
        """Request a stop with a savepoint once. Returns the savepoint's folder; None if there is none."""
        job = self._job()
        if job is None:
            return None
        target = {"targetDirectory": f"file://{self.place.checkpoints}", "drain": False}
        try:
            accepted = read_json(self._rest, f"/jobs/{job}/stop", target)
        except RestError:
            return None
        if killed is not None:
            time.sleep(delay)
            killed.kill()
            self.supervise_workers()
        return self._savepoint(f"/jobs/{job}/savepoints/{accepted['request-id']}")

    def _savepoint(self, path: str) -> str | None:
        """Wait until a savepoint has ended. Returns its folder; None if it failed or takes too long."""
        until = time.monotonic() + STOPS_SECONDS
        while time.monotonic() < until:
            with suppress(RestError):
                answer = read_json(self._rest, path)
                if answer["status"]["id"] == "COMPLETED":
                    location: str | None = answer["operation"].get("location")
                    self.recorded.append({"stop": "savepoint" if location else "failed"})
                    return location
            if not self._manager.alive:
                return self._newest_savepoint()
            time.sleep(_WAIT)
        return None

    def _newest_savepoint(self) -> str | None:
        """The newest savepoint, if it is not `_from`. A job manager may end before it reports a savepoint."""
        found = sorted(
            self.place.checkpoints.glob("savepoint-*/_metadata"), key=lambda one: one.stat().st_mtime
        )
        newest = str(found[-1].parent) if found else None
        return None if newest == self._from else newest

    def _start_again(self) -> None:
        self._restarts += 1
        self._start_manager()
        self._workers = [self._start_worker() for _ in range(TASK_MANAGERS)]

    def _job(self) -> str | None:
        """Wait until the job runs. Returns its id; None if that takes too long."""
        until = time.monotonic() + STARTS_SECONDS
        while time.monotonic() < until:
            with suppress(RestError):
                for one in read_json(self._rest, "/jobs")["jobs"]:
                    if one["status"] == "RUNNING":
                        return str(one["id"])
            time.sleep(_WAIT)
        return None

    def _record(self) -> None:
        """Record the numbers of checkpoints that the job manager reports."""
        with suppress(RestError):
            for one in read_json(self._rest, "/jobs")["jobs"]:
                answer = read_json(self._rest, f"/jobs/{one['id']}/checkpoints")
                self.recorded.append({"generation": self._restarts, **answer["counts"]})

    def _java(self, megabytes: int) -> list[str]:
        more = "" if self._table is None else f":{DRIVER}"
        return java(self.distribution.class_path + more, megabytes, self._conf)

    def _properties(self, process: str) -> list[str]:
        settings = {
            **settings_of(process, self.settings),
            "rest.port": self._rest,
            "jobmanager.rpc.port": self._rpc,
            "high-availability.zookeeper.quorum": f"127.0.0.1:{self._zookeeper}",
            "high-availability.storageDir": f"file://{self.place.folder / 'high-availability'}",
            "high-availability.cluster-id": f"/generation-{self._restarts}",
            "state.checkpoints.dir": f"file://{self._folder(self._restarts)}",
            "execution.checkpointing.dir": f"file://{self._folder(self._restarts)}",
            "io.tmp.dirs": str(self.place.folder / "tmp"),
            **self.more_settings(),
        }
        if self.distribution.zookeeper is None:
            settings |= {"high-availability": "NONE", "high-availability.type": "NONE"}
        return [f"-D{key}={value}" for key, value in settings.items()]


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        tried.settimeout(1.0)
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _frozen(*processes: Started) -> Iterator[None]:
    for one in processes:
        one.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for one in processes:
            one.signal(signal.SIGCONT)


def _number(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("chk-"))
