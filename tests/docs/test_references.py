"""The files, pages, targets, commands, options and numbers that a page names exist."""

import re
import shlex
import tomllib

import click
import pytest
from blocks import PAGES, ROOT, blocks_of

from conformance.adapters.flink.releases import releases
from conformance.cli import barrierspec
from conformance.compare.triangle_table import with_table
from conformance.mutants.catalogue import load_catalogue
from conformance.site.command_pages import options_table
from conformance.verdict import Exit

HOUSES = "spec|model|impl|conformance|tests|docs"
NAMED = re.compile(rf"^((?:{HOUSES})/[\w./*-]*|[\w-]+\.(?:md|toml|yml))$")
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#]+)")
MAKE = re.compile(r"\bmake ([a-z][a-z-]+)\b")
A_READERS_OWN = {
    "job.log", "them.toml", "index.json", "Divergence_<name>.cfg", "known.json", "example.toml",
}  # fmt: skip


def spans(page):
    """The code spans of a page outside of blocks."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return SPAN.findall(text)


def commands(page):
    """The words of each command line of `barrierspec` that the page shows or names."""
    shown = [
        line.removeprefix("$ ")
        for block in blocks_of(page)
        for line in block.text.splitlines()
        if block.language == "sh" or line.startswith("$ ")
    ]
    for line in (*shown, *spans(page)):
        command = re.split(r"\s[|&#>]", line)[0]
        if command.startswith("barrierspec "):
            yield shlex.split(command)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page):
    missing = [
        name
        for name in spans(page)
        if NAMED.match(name)
        and name not in A_READERS_OWN
        and not any(list(folder.glob(name.rstrip("/"))) for folder in (ROOT, page.parent))
    ]

    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_have_targets(page):
    text = page.read_text(encoding="utf-8")

    assert not [link for link in LINK.findall(text) if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_targets_and_commands_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    code = [*spans(page), *(block.text for block in blocks_of(page) if block.language == "sh")]

    assert {name for text in code for name in MAKE.findall(text)} <= targets
    for words in commands(page):
        assert not unknown(words), f"{page.name}: barrierspec {shlex.join(words)}: {unknown(words)}"


def unknown(words):
    """The first word that is no command, or the options that its command does not have."""
    command = barrierspec
    words = list(words)
    while isinstance(command, click.Group) and words:
        context = click.Context(command)
        inner = command.get_command(context, words[0])
        if inner is None:
            break
        command = inner
        words.pop(0)
    if command is barrierspec:
        return words[0]
    own = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    known = {option for one in own for parameter in one.params for option in parameter.opts}
    return sorted({word for word in words if word.startswith("--") and word != "--help"} - known)


def test_numbers_of_the_readme_are_those_of_the_code():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (adapter,) = (
        block
        for block in blocks_of(ROOT / "docs/verify/verify-your-implementation.md")
        if block.language == "python"
    )
    told = ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in Exit)

    assert f"an adapter of {len(adapter.text.splitlines())} lines" in readme
    assert "45 released Flinks" in readme
    assert len(releases()) == 45
    assert f"Exit codes: {told}." in readme


def test_the_mutants_of_the_page_are_those_of_the_catalogue():
    page = (ROOT / "docs/reference/mutants.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| ([A-Z]+-\d\d) \| `([\w-]+)` \|", page, re.MULTILINE)

    assert told
    assert set(told) <= {(mutant.rule, mutant.id) for mutant in load_catalogue()}


def test_the_changelog_has_the_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


OPTIONS = re.compile(r"(<!-- options: (\w+) -->\n\n)(?:\|.*\n)*")


def test_tables_of_options_are_made_from_the_command(pytestconfig):
    page = ROOT / "docs" / "verify" / "conform-options.md"
    written = page.read_text(encoding="utf-8")
    made = OPTIONS.sub(lambda found: found[1] + options_table(found[2]), written)
    if pytestconfig.getoption("--rewrite"):
        page.write_text(made, encoding="utf-8")
        written = made
    assert written == made
    assert OPTIONS.findall(written) == [("<!-- options: conform -->\n\n", "conform")]


def test_the_table_of_triangles_is_made_from_the_manifests(pytestconfig):
    page = ROOT / "docs" / "learn" / "reading-the-specification.md"
    written = page.read_text(encoding="utf-8")
    if pytestconfig.getoption("--rewrite"):
        page.write_text(with_table(written), encoding="utf-8")
        written = page.read_text(encoding="utf-8")
    assert written == with_table(written)
    assert "| `SinkModel` | sink_1_13" in written
