"""The adapter of a released Flink: a JVM with the jar of the release and our classes.

A ProcessAdapter starts the JVM, and exchanges requests and answers with it through pipes.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from conformance.adapters.flink.compile import compiled
from conformance.adapters.flink.fetch import fetch
from conformance.adapters.flink.releases import FlinkError, Release
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Hello

SECONDS = 60.0
"""The time limit of one answer in seconds. The first answer also includes the start of the JVM."""
JVM = ("-Xss1m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-Xshare:auto")
NAME = "apache-flink"
"""The name under which a release reports itself."""
UNGUARDED = "the classes of a release do not refuse events that the protocol does not allow"
"""Why `conform --adapter` does not test a release.

`conformance.released.comparison` tests it, and sends only events that the profile of the release allows.
"""


class NoJavaError(FlinkError):
    """No Java that can run the release is installed."""


def command(release: Release, options: Sequence[str] = (), gates: int = 1) -> list[str]:
    """The command that runs the release as an adapter on stdin and stdout.

    `gates`: the number of input gates among which a task divides its channels. Fetches the jar and compiles
    our classes if that was not done before; raises FlinkError.
    """
    jar = fetch(release, options)
    return command_for(release, jar, compiled(release, jar), gates)


def command_for(release: Release, jar: Path, classes: Path, gates: int = 1) -> list[str]:
    """The command for a fetched jar and compiled classes. Raises NoJavaError."""
    java = shutil.which("java")
    if java is None:
        raise NoJavaError("expected `java` on the PATH and found none; install a JDK of 11 or later")
    path = f"{classes}:{jar}"
    names = (release.version, release.profile, release.coordinator, release.channel, release.subtask)
    return [java, *JVM, "-cp", path, "barrierspec.flink.Main", *names, release.source, str(gates)]


def flink_adapter(release: Release, options: Sequence[str] = (), gates: int = 1) -> ProcessAdapter:
    """The release as an implementation under test. `gates`: as in `command`."""
    return ProcessAdapter(command(release, options, gates), SECONDS)


def is_release(hello: Hello) -> bool:
    """Whether an adapter with this answer to `hello` runs a released Flink."""
    return hello.implementation == NAME
