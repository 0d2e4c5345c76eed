"""`flink fetch`, with small packages in a folder instead of an index, and every error."""

import hashlib
import io
import tarfile
import zipfile

import pytest

from conformance.adapters.flink import releases
from conformance.adapters.flink.fetch import ChecksumError, FetchError, cached, fetch, job_jars, pip_command
from conformance.adapters.flink.releases import Release, UnknownReleaseError

JAR = b"not really a jar"
RIGHT = hashlib.sha256(JAR).hexdigest()


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv(releases.CACHE, str(tmp_path / "cache"))


@pytest.fixture
def index(tmp_path):
    """A folder of packages, and the options with which pip looks only there."""
    folder = tmp_path / "index"
    folder.mkdir()
    return folder, ("--no-index", "--find-links", str(folder))


def a_release(how="wheel", version="9.8.7", sha256=RIGHT):
    return Release(version, "flink-1.14", "2.3", "some-flink", how, sha256)


def wheel(folder, members):
    info = "some_flink-9.8.7.dist-info"
    with zipfile.ZipFile(folder / "some_flink-9.8.7-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: some-flink\nVersion: 9.8.7\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
        for name, content in members.items():
            archive.writestr(name, content)


PROJECT = b"""[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = b"""from pathlib import Path

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = Path(folder) / "some_flink-9.8.7.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(Path("PKG-INFO").read_text())
    return info.name
"""


def sdist(folder, members):
    """A source archive with its own build backend, so that pip fetches no build tools."""
    root = "some-flink-9.8.7"
    files = {
        "pyproject.toml": PROJECT,
        "backend.py": BACKEND,
        "PKG-INFO": b"Metadata-Version: 2.1\nName: some-flink\nVersion: 9.8.7\n",
        **members,
    }
    with tarfile.open(folder / f"{root}.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_only_the_jars_of_a_wheel_are_kept(index, tmp_path):
    folder, options = index
    wheel(folder, {"pyflink/lib/flink-dist-9.8.7.jar": JAR, "pyflink/lib/log4j-core-1.jar": b"log",
                   "pyflink/lib/flink-table-9.jar": b"table", "pyflink/shell.py": b""})  # fmt: skip
    jar = fetch(a_release(), options)
    assert jar.read_bytes() == JAR
    assert jar == cached(a_release())
    kept = sorted(file.name for file in jar.parent.iterdir())
    assert kept == sorted([f"{RIGHT}.good", "flink-dist-9.8.7.jar", "jars-of-jobs", "log4j-core-1.jar"])
    assert jar.is_relative_to(tmp_path / "cache" / "flink" / "9.8.7")


def test_the_jar_of_a_source_archive(index):
    folder, options = index
    sdist(folder, {"deps/lib/flink-dist_2.11-9.8.7.jar": JAR})
    assert fetch(a_release("sdist"), options).name == "flink-dist_2.11-9.8.7.jar"


def test_a_jar_in_the_cache_is_not_fetched_again(index):
    folder, options = index
    wheel(folder, {"lib/flink-dist-9.8.7.jar": JAR})
    first = fetch(a_release(), options)
    assert fetch(a_release(), ("--no-index", "--find-links", "/no/such/folder")) == first


def test_a_cache_that_was_filled_when_fewer_jars_were_kept_is_filled_again(index):
    folder, options = index
    wheel(folder, {"lib/flink-dist-9.8.7.jar": JAR, "lib/flink-connector-files-9.8.7.jar": b"files"})
    jar = fetch(a_release(), options)
    (jar.parent / "flink-connector-files-9.8.7.jar").unlink()
    (jar.parent / "jars-of-jobs").unlink()

    names = [one.name for one in job_jars(a_release(), options)]
    assert names == ["flink-dist-9.8.7.jar", "flink-connector-files-9.8.7.jar"]


def test_another_jar_than_the_released_one_is_refused(index):
    folder, options = index
    wheel(folder, {"lib/flink-dist-9.8.7.jar": b"something else"})
    with pytest.raises(ChecksumError, match=rf"expected sha256 {RIGHT}, got .*remove it and fetch again"):
        fetch(a_release(), options)
    assert cached(a_release()) is None
    with pytest.raises(ChecksumError):  # a cached jar is checked again
        fetch(a_release(), options)


def test_a_package_without_the_jar(index):
    folder, options = index
    wheel(folder, {"lib/flink-python-9.8.7.jar": JAR})
    with pytest.raises(FetchError, match=r"holds no flink-dist\*\.jar"):
        fetch(a_release(), options)


def test_a_package_that_is_no_archive(index, monkeypatch, tmp_path):
    broken = tmp_path / "some_flink-9.8.7.whl"
    broken.write_bytes(b"<html>not found</html>")
    monkeypatch.setattr("conformance.adapters.flink.fetch._download", lambda *_: broken)
    with pytest.raises(FetchError, match="expected a wheel or a tar archive"):
        fetch(a_release(), index[1])


def test_an_index_without_the_package_is_an_error(index):
    with pytest.raises(FetchError, match=r"could not download some-flink 9\.8\.7.*By hand: .*pip download"):
        fetch(a_release(), index[1])


def test_two_jars_in_the_cache_are_an_error(index):
    folder, options = index
    wheel(folder, {"lib/flink-dist-9.8.7.jar": JAR})
    jar = fetch(a_release(), options)
    jar.with_name("flink-dist-other.jar").write_bytes(JAR)
    with pytest.raises(FetchError, match="expected one flink-dist"):
        fetch(a_release(), options)


def test_pip_fetches_the_file_that_contains_the_jar(tmp_path):
    assert {how for known in releases.releases().values() for how in (known.how,)} == {
        "wheel", "sdist", "cp37"
    }  # fmt: skip
    command = pip_command(a_release("cp37"), tmp_path)
    assert command[command.index("--abi") + 1] == "cp37m"
    assert command[-1] == "some-flink==9.8.7"
    assert "--no-binary" in pip_command(a_release("sdist"), tmp_path)


def test_listed_releases_are_in_order_with_profiles_and_checksums():
    from model.gate.profiles import PROFILES

    listed = releases.releases()
    assert [known.minor for known in listed.values()] == sorted(known.minor for known in listed.values())
    assert {known.profile for known in listed.values()} <= set(PROFILES)
    assert all(len(known.sha256) == 64 for known in listed.values())
    assert releases.newest().version == list(listed)[-1]


def test_a_release_that_is_not_listed():
    with pytest.raises(UnknownReleaseError, match=r"Flink 0\.1\.0 is not listed; expected one of: 1\.9\.3"):
        releases.release("0.1.0")
