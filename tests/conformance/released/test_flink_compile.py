"""The Java sources compile for each release with its sections. Messages name what is missing."""

import shutil
import zipfile

import pytest

from conformance.adapters.flink import releases
from conformance.adapters.flink.adapter import NoJavaError, command_for
from conformance.adapters.flink.compile import (
    CompileError,
    NoCompilerError,
    SectionError,
    compiled,
    sections,
    shown_errors,
    sources,
)

SOURCE = """always
//# from 1.12
new
//# end
//# before 1.12
old
//# end
    //# from 1.12 before 1.14
between
    //# end
"""


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv(releases.CACHE, str(tmp_path / "cache"))


@pytest.fixture
def empty_jar(tmp_path):
    jar = tmp_path / "flink-dist-0.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    return jar


@pytest.mark.parametrize(
    ("minor", "seen"),
    [
        ((1, 9), ["always", "old"]),
        ((1, 12), ["always", "new", "between"]),
        ((1, 14), ["always", "new"]),
        ((2, 0), ["always", "new"]),
    ],
)
def test_a_release_sees_its_sections_and_lines_keep_their_numbers(minor, seen):
    shown = sections(SOURCE, minor).splitlines()
    assert [line for line in shown if line] == seen
    assert len(shown) == len(SOURCE.splitlines())
    assert shown.index("always") == 0


def test_a_section_may_begin_with_a_patch_release():
    source = "//# before 1.14.3\nold\n//# end\n//# from 1.14.3\nnew\n//# end\n"

    seen = [sections(source, numbers).split() for numbers in ((1, 13, 6), (1, 14, 2), (1, 14, 3), (1, 15, 0))]
    assert seen == [["old"], ["old"], ["new"], ["new"]]


@pytest.mark.parametrize(
    "broken",
    [
        "//# from 1.2\n",
        "//# end\n",
        "//# since 1.2\n//# end\n",
        "//# from 1.2\n//# from 1.3\n//# end\n",
        "//#\n",
    ],
)
def test_sections_that_cannot_be_read_are_reported(broken):
    with pytest.raises(SectionError, match=r"Odd\.java"):
        sections(broken, (1, 2), "Odd.java")


def test_every_source_can_be_read_for_every_release():
    for known in releases.releases().values():
        for name, text in sources(known).items():
            assert "//#" not in sections(text, known.minor, name)
    assert {"Main.java", "Gate.java", "DrivenCoordinator.java", "Sinking.java"} <= set(
        sources(releases.newest())
    )
    assert "Linking.java" not in sources(releases.release("1.9.3"))


def test_without_a_compiler_the_message_states_what_to_install(monkeypatch, tmp_path, empty_jar):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoCompilerError, match="a JRE is not enough, install a JDK of 11 or later"):
        compiled(releases.newest(), empty_jar)
    with pytest.raises(NoJavaError, match="expected `java` on the PATH"):
        command_for(releases.newest(), empty_jar, tmp_path)


def test_a_jar_that_lacks_classes(empty_jar, tmp_path):
    if shutil.which("javac") is None:
        pytest.skip("there is no Java compiler")
    message = r"does not compile against flink-dist-0\.jar.*\n\w+\.java:\d+: error: package org\.apache"
    with pytest.raises(CompileError, match=message):
        compiled(releases.newest(), empty_jar)
    folder = releases.cache_folder(releases.newest())
    assert list(folder.iterdir()) == []  # no incomplete file is left


def test_only_1_14_sees_what_only_its_gates_have():
    text = sources(releases.release("1.14.6"))["PlayedGate.java"]
    seen = [minor for minor in ((1, 13), (1, 14), (1, 15)) if "announceBufferSize" in sections(text, minor)]
    assert seen == [(1, 14)]


def test_the_compilers_errors_are_shown_without_its_warnings():
    message = "A.java:1: warning: old\n  a\nB.java:2: error: no class\n  symbol: b\nA.java:3: warning: c\n"
    assert shown_errors(message) == ["B.java:2: error: no class", "  symbol: b"]
    assert shown_errors("something else\n") == ["something else"]


def test_a_jar_sees_the_sections_of_the_classes_that_it_has():
    source = "//# with flink.New\nnew\n//# end\n//# without flink.New\nold\n//# end\n"
    seen = [sections(source, (1, 16), classes=classes).split() for classes in ({"flink.New"}, set())]
    assert seen == [["new"], ["old"]]
