"""`barrierspec doctor` checks the computer, and each failed check names its fix."""

import pytest

from conformance import cli, doctor
from spec.java import JavaNotFoundError


@pytest.mark.parametrize(
    ("text", "good", "found"),
    [
        ('openjdk version "17.0.9" 2023-10-17', True, "17"),
        ('openjdk version "21" 2023-09-19', True, "21"),
        ('java version "1.8.0_292"', False, "8"),
        ("gibberish", False, "not understood: 'gibberish'"),
        (JavaNotFoundError("expected java on the PATH"), False, "expected java on the PATH"),
    ],
)
def test_java_has_to_be_17_or_newer(text, good, found):
    check = doctor.java(text)
    assert (check.good, check.found) == (good, found)
    assert "install a JDK or JRE from 17 on" in check.remedy


def test_python_slots_and_memory_have_least_values():
    assert [doctor.python((3, minor, 0)).good for minor in (10, 11, 13)] == [False, True, True]
    assert [doctor.slots(count).good for count in (1, 2)] == [False, True]
    assert [doctor.memory(free).good for free in (1.0, 8.0)] == [False, True]


def test_tlc_is_found_where_the_variable_names_it(tmp_path, monkeypatch):
    jar = tmp_path / "tla2tools.jar"
    monkeypatch.setenv("TLA2TOOLS_JAR", str(jar))
    missing = doctor.tlc()
    assert not missing.good
    assert f"expected tla2tools.jar at {jar}, got no file" in missing.found
    jar.write_bytes(b"jar")
    assert doctor.tlc().good
    monkeypatch.delenv("TLA2TOOLS_JAR")
    assert doctor.tlc().found == "tla2tools.jar"


def test_a_wrong_java_home_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check = doctor.java(doctor.java_version_text())
    assert not check.good
    assert f"in JAVA_HOME, {tmp_path}" in check.found


def test_one_failure_makes_the_command_fail(monkeypatch, capsys):
    checks = [doctor.python((3, 11, 0)), doctor.java(JavaNotFoundError("no java"))]
    monkeypatch.setattr(doctor, "checks", lambda: iter(checks))
    assert cli.run(["doctor"]) == 1
    output = capsys.readouterr().out
    assert "FAILS" in output
    assert "-> install a JDK or JRE from 17 on" in output
    monkeypatch.setattr(doctor, "checks", lambda: iter(checks[:1]))
    assert cli.run(["doctor"]) == 0
