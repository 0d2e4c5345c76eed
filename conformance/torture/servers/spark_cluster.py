"""A standalone cluster of Spark whose workers share no disk: a master and two workers on loopback.

Each standalone worker stands for a host. It runs in a mount namespace (`unshare`), in which its own disk
covers one folder of this machine. It also has its own work folder and its own folder of temporary files. A
worker that dies is started again with empty disks, as when a host is replaced.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

import psutil

from conformance.torture.servers.loopback import free_port

HOSTS, CORES = 2, 6
"""Each host is large enough for the whole job, so that the job need not wait for a new host."""
_EVENTS: Final = "events"
"""The folder of the event log in the output of a job."""
_TOKEN: Final = "BARRIERSPEC_CLUSTER"
"""The environment variable with the token of the cluster to which a process belongs."""
_START_SECONDS: Final = 90.0
_LOOK_SECONDS: Final = 0.05
_DEPLOY: Final = "org.apache.spark.deploy"
_MASTER_RUNS: Final = "I have been elected leader"
_WORKER_RUNS: Final = "Successfully registered with master"
_MOUNTED: Final = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'


class ClusterNotStartedError(Exception):
    """The cluster cannot be started on this machine."""


class _Daemon:
    """A running daemon of Spark, whose output is in a file."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as output:
            self.process = psutil.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=log.parent,
            )

    @property
    def runs(self) -> bool:
        """Whether the daemon has not ended."""
        return self.process.poll() is None

    def wait_for(self, line: str) -> None:
        """Wait until its output has `line`. Raises ClusterNotStartedError."""
        until = time.monotonic() + _START_SECONDS
        while line not in (printed := self._log.read_text(errors="replace")):
            if not self.runs or time.monotonic() > until:
                raise ClusterNotStartedError(f"no standalone cluster: {printed[-2_000:]}")
            time.sleep(_LOOK_SECONDS)


class _HostWorker(_Daemon):
    """The standalone worker of a host until it dies, with its disks under `folder`."""

    def __init__(self, folder: Path, hidden: Path, master: str, environment: dict[str, str]) -> None:
        self.disk, self.temporary = folder / "disk", folder / "tmp"
        for one in (self.disk, self.temporary, folder / "local"):
            one.mkdir(parents=True)
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        mounted = ["unshare", *own, "--mount", "sh", "-c", _MOUNTED, "sh", str(self.disk), str(hidden)]
        sizes = ["--cores", str(CORES), "--memory", "2g", "--work-dir", str(folder / "work")]
        own_folders = {"TMPDIR": str(self.temporary), "SPARK_LOCAL_DIRS": str(folder / "local")}
        command = [*mounted, *_spark_class("worker.Worker"), *sizes, master]
        super().__init__(command, {**environment, **own_folders}, folder / "log")

    def files(self) -> Iterator[Path]:
        """The files on its disks, without event logs."""
        for disk in (self.disk, self.temporary):
            for one in sorted(disk.rglob("*")):
                if one.is_file() and one.parent.name != _EVENTS:
                    yield one

    def clear(self) -> None:
        """Remove the files on its disks."""
        for disk in (self.disk, self.temporary):
            for one in disk.iterdir():
                shutil.rmtree(one, ignore_errors=True)
                one.unlink(missing_ok=True)


class SparkCluster:
    """One running cluster. As a context manager it is stopped at the end, and its folder is removed.

    `hidden`: the folder that each host's own disk covers. A host does not see what this process, a driver or
    another host writes into it. Raises ClusterNotStartedError.
    """

    def __init__(self, hidden: Path) -> None:
        if shutil.which("unshare") is None:
            raise ClusterNotStartedError("no standalone cluster: it needs `unshare` of util-linux")
        self._hidden = hidden.resolve()
        self._hidden.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="barrierspec-cluster-"))
        self._token = secrets.token_hex(8)
        self._environment = {
            **os.environ,
            _TOKEN: self._token,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "SPARK_DAEMON_MEMORY": "256m",
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # as in `impl.spark.session`
            "PYSPARK_PYTHON": sys.executable,
        }
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        """The URL by which a driver reaches the cluster."""
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="cluster keeper", daemon=True)
        self._hosts: list[list[_HostWorker]] = []
        try:
            listens = ["--port", str(port)]
            self._daemon = _Daemon(
                [*_spark_class("master.Master"), *listens], self._environment, self._folder / "master.log"
            )
            self._daemon.wait_for(_MASTER_RUNS)
            self._hosts = [[self._started(host, 0)] for host in range(HOSTS)]
            for workers in self._hosts:
                workers[-1].wait_for(_WORKER_RUNS)
        except BaseException:
            self._end()
            raise
        self._keeper.start()

    @property
    def pids(self) -> list[int]:
        """The id of the process of each host's standalone worker."""
        return [workers[-1].process.pid for workers in self._hosts]

    @property
    def deaths(self) -> int:
        """The number of workers that have died, and were started again."""
        return sum(len(workers) - 1 for workers in self._hosts)

    def collect(self, folder: Path) -> None:
        """Copy the event logs of a run's tasks from the disks of all hosts into the run's `folder`."""
        within = folder.resolve().relative_to(self._hidden)
        for worker in (one for workers in self._hosts for one in workers):
            for log in (worker.disk / within / _EVENTS).glob("*.jsonl"):
                (folder / _EVENTS).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(log, folder / _EVENTS / log.name)

    def processes(self) -> list[str]:
        """Describe the processes that run on the hosts although no job runs."""
        daemons = {self._daemon.process.pid, *self.pids}
        return [
            f"process {one.pid} of a standalone worker" for one in self._members() if one.pid not in daemons
        ]

    def files(self) -> list[str]:
        """Describe the files on the disks of the running hosts, and remove the files of all hosts."""
        found = []
        for host, workers in enumerate(self._hosts):
            found += [f"host {host} has {one.relative_to(one.parents[1])}" for one in workers[-1].files()]
            for worker in workers:
                worker.clear()
        return found

    def stop(self) -> None:
        """End all processes of the cluster, and remove its folder."""
        self._over.set()
        self._keeper.join()
        self._end()

    def _started(self, host: int, number: int) -> _HostWorker:
        folder = self._folder / f"host-{host}" / str(number)
        return _HostWorker(folder, self._hidden, self.master, self._environment)

    def _keep(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            for host, workers in enumerate(self._hosts):
                if not workers[-1].runs:
                    workers.append(self._started(host, len(workers)))

    def _members(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get(_TOKEN) == self._token
                if ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue  # the process has just ended, or belongs to another user
        return found

    def _end(self) -> None:
        while members := self._members():
            for process in members:
                process.kill()
            psutil.wait_procs(members, timeout=_LOOK_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _spark_class(name: str) -> list[str]:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    return [str(program), f"{_DEPLOY}.{name}", "--host", "127.0.0.1", "--webui-port", "0"]
