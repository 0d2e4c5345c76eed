"""Hostile text in every form of report stays data, and no invisible character is printed."""

import ast
import json
import shlex
import subprocess
import sys
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import click
import orjson
import pytest
from markdown_it import MarkdownIt

from conformance import cli, escape
from conformance.adapters.protocol import Crashed, Errored, Hello, Malformed, Offer, Unsupported
from conformance.command_line import standard_streams
from conformance.commands import write_findings
from conformance.divergence import Answer, Divergence
from conformance.drive import saved
from conformance.drive.oracle import Oracle
from conformance.drive.replays import by_tlc
from conformance.page import render
from conformance.page.document import Page, Row
from conformance.parts.result import Finding, PartResult
from conformance.report.divergence import description, phrases
from conformance.report.divergence.description import FoundDivergence
from conformance.report.formats import findings, junit
from conformance.report.formats.columns import command as command_lines
from conformance.verdict import Exit, Verdict
from spec.java import find_jar, find_java
from spec.tlc import specification

CORPUS = {
    "plain": "my-engine 1.0",
    "not ASCII": "Maschine Größe 機械 😀",
    "escape": "\x1b[2J\x1b[31mCONFORMS\x1b[0m",
    "title of a terminal": "\x1b]0;owned\x07 \x1b]8;;http://x\x1b\\link",
    "eight bit control": "\x9b31m \x9d0;t\x9c",
    "NUL": "a\x00b",
    "bidi": "a\u202egnp.exe\u2066\u2069\u200b\ufeff",
    "lines of Unicode": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "docstring": '"""\nimport os\nos.abort()\n"""',
    "docstring at its end": 'x"',
    "backslash": "a\\",
    "backslashes": '\\"""\\\\" \\N{DASH} \\x41 \\u0041',
    "f-string": "{__import__('os').abort()}",
    "comment of TLA+": "*) x == 1 (* y",
    "comments of TLA+": "(*) (**) \\* ==== \n---- MODULE Other ----\n====",
    "workflow command": "::error file=a,line=1::owned",
    "workflow command on a line": "x\n  ::set-output name=a::b\r\n##[error]owned ##vso[task.x]",
    "escapes of a workflow": "%0A::error::x%25%0D",
    "HTML": "</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;<!--",
    "CDATA": "]]>&<?x?>\ufffe\uffff",
    "template": "{{ 7 * 7 }}{% raw %}{# x #}",
    "Markdown": "a|b `c` ``d`` [x](http://y) <b> *e* _f_ ![g](h) \n# h\n- i",
    "shell": "$(touch owned) `touch owned` ; touch owned # ' \" !x $'y' \\",
    "printable ASCII": "".join(map(chr, range(32, 127))),
    "newline": "a\nDIVERGES  ALIGN-01\r\nCONFORMS\rx\ty",
    "lone surrogates": "a\udc80b\ud800c",
    "long": "x\x1b" * 100_000,
}
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
HOSTILE = pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler", "profile": "flink-1.14"}
EVENTS = ({"kind": "barrier", "channel": 0, "checkpoint": 1},)


def found(text):
    """A divergence whose answer contains the text in every place that an implementation determines."""
    (edge,) = Oracle("gate", GATE).transcript(EVENTS)
    named = escape.utf8(text)  # JSON cannot hold lone surrogates
    got = Answer(({"kind": named, "why": named, "channel": {named: [named]}},), {"blocked": named, named: 1})
    return Divergence("gate", GATE, EVENTS, Answer(edge.effects, edge.after.observed), got, edge.rules)


def found_divergence(text):
    return FoundDivergence(found(text), text, text, 1)


def assert_is_visible(text):
    unseen = {
        one for one in text if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    assert not unseen
    for line in text.splitlines():
        assert not line.strip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line


# ---------------------------------------------------------------- the functions


def test_every_invisible_character_is_known():
    by_kind = {True: [], False: []}
    for one in map(chr, range(sys.maxunicode + 1)):
        by_kind[unicodedata.category(one) in UNSEEN].append(one)
    assert not [one for one in by_kind[True] if escape.line(one) == one]
    assert len(set(escape.line("".join(by_kind[False])))) > 1_000_000  # others are unchanged


@HOSTILE
def test_a_line_a_block_and_what_is_printed_are_visible(text):
    assert_is_visible(escape.line(text))
    assert "\n" not in escape.line(text)
    assert_is_visible(escape.block(text))
    assert_is_visible(click.unstyle(escape.printed(text)))
    assert len(escape.short(text)) < 5 * escape.SHOWN


def test_harmless_text_is_unchanged():
    for name in ("plain", "not ASCII"):
        text = CORPUS[name]
        assert escape.line(text) == escape.block(text) == escape.printed(text) == escape.short(text) == text
    assert escape.printed("a\n\x1b[31mb\x1b[0m") == "a\n\x1b[31mb\x1b[0m"


@HOSTILE
def test_python_is_a_constant(text):
    assert ast.literal_eval(escape.python_text(text)) == text
    assert ast.literal_eval(escape.python({"a": [text, None, True]})) == {"a": [text, None, True]}
    (one,) = ast.parse(f'"""{escape.python_docstring(text)}"""').body
    assert isinstance(one, ast.Expr)
    assert isinstance(one.value, ast.Constant)


@HOSTILE
def test_a_string_of_tla_is_ascii_on_one_line(text):
    spelled = escape.tla_string(text)
    assert spelled.isascii()
    assert spelled.isprintable()
    assert json.loads(spelled) is not None  # its escapes are also those of JSON
    comment = escape.tla_comment(text)
    assert comment.isascii()
    assert comment.isprintable()
    assert "(*" not in comment
    assert "*)" not in comment


def test_different_texts_are_different_strings_of_tla():
    texts = ["\x1b", "\\x1b", "\\\\x1b", '"', '\\"', "\\", "\\\\", "\n", "\\n", *CORPUS.values()]
    assert len({escape.tla_string(text) for text in texts}) == len(set(texts))


@pytest.mark.parametrize("name", [name for name in CORPUS if name not in ("NUL", "long")])
def test_a_shell_splits_a_quoted_command_into_the_same_words(name):
    word = CORPUS[name].replace("\ud800", "")  # no file name contains it
    line = escape.shell(["printf", "%s", word])
    assert_is_visible(line)
    assert "\n" not in line
    done = subprocess.run(["bash", "-c", line], capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=True)
    assert done.stdout == word.encode(errors="surrogateescape")


def test_a_harmless_command_is_quoted_as_before():
    given = ["barrierspec", "conform", "--adapter", "python 'my gate.py'", "--out", "a b"]
    assert escape.shell(given) == shlex.join(given)


@HOSTILE
def test_markdown_is_one_paragraph_of_text(text):
    shown = escape.line(text[:2_000])
    (begin, inline, end) = MarkdownIt("gfm-like", {"linkify": False}).parse(escape.markdown(text[:2_000]))
    assert (begin.type, end.type) == ("paragraph_open", "paragraph_close")
    assert {one.type for one in inline.children} <= {"text", "text_special"}
    assert "".join(one.content for one in inline.children) == shown.strip()
    table = MarkdownIt("gfm-like", {"linkify": False}).render(
        f"| a | b |\n|---|---|\n| {escape.markdown(text[:2_000])} | {escape.markdown_code(text[:2_000])} |\n"
    )
    assert table.count("<td") == 2
    assert "<b>" not in table
    assert "<script>" not in table


# ---------------------------------------------------------------- what an implementation says


@HOSTILE
def test_text_of_an_implementation_is_one_visible_line(text):
    hello = Hello(text, text, text, {"gate": Offer((), (), ())})
    said = [saved.name_of(hello), phrases.of_event({"kind": text, text: text, "channel": [text]})]
    said += [
        phrases.of_effect({"kind": text, "reason": text}),
        phrases.of_value({text: text}),
        phrases.of_value(text),
    ]
    said += [phrases.of_config("gate", {"mode": text, text: text})]
    said += [
        one.describe() for one in (Unsupported(text), Errored(text), Crashed(text, ""), Malformed(text, ""))
    ]
    for one in said:
        assert_is_visible(one)
        assert "\n" not in one


@HOSTILE
def test_every_character_of_the_description_is_visible(text):
    assert_is_visible(description.describe(found_divergence(text[:9_000])))
    assert_is_visible(
        command_lines("  again   ", shlex.join(["barrierspec", "conform", "--adapter", text[:9_000]]))
    )
    crashed = found("x")
    lost = FoundDivergence(
        Divergence("gate", GATE, EVENTS, crashed.expected, Crashed(text, text), crashed.rules), text, "x", 1
    )
    assert_is_visible(description.describe(lost))


class Read(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


def page_with(text):
    part = Row(text, Verdict.DIVERGES, text, findings=(Finding(None, text, text, text),))
    return render.html(Page(text, Verdict.DIVERGES, text, ((text, text),), text, (part,)))


@HOSTILE
def test_the_page_has_no_markup_of_it(text):
    text = text[:9_000]
    page = page_with(text)
    page.encode()
    assert Read(page).tags == Read(page_with("plain")).tags
    assert_is_visible(page.replace("\t", " "))
    embedded = render.details.embedded({text: [text]})
    assert "<" not in embedded
    assert orjson.loads(embedded) == {escape.block(text): [escape.block(text)]}


def parts(text):
    return [PartResult(text, Verdict.DIVERGES, text, findings=(Finding(None, text, text, text, 3),))]


@HOSTILE
def test_machine_readable_files_hold_the_text_as_data(text, tmp_path):
    asked = findings.Outputs(*(tmp_path / name for name in ("json", "junit", "sarif", "annotations")))
    write_findings(asked, "conform", parts(text), text)

    made = orjson.loads((tmp_path / "json").read_bytes())
    assert made["parts"][0]["findings"][0]["line"] == escape.utf8(text)
    run = orjson.loads((tmp_path / "sarif").read_bytes())["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place.isascii()
    assert not set(place) & set(' \\"<>\n')
    tree = ElementTree.parse(tmp_path / "junit").getroot()
    plain = ElementTree.fromstring(junit.of_parts("x", parts("plain")))
    assert [one.tag for one in tree.iter()] == [one.tag for one in plain.iter()]
    (line,) = (tmp_path / "annotations").read_text("utf-8").splitlines()
    assert line.startswith("::warning ")
    assert line.count("::") == 2 + escape.workflow_data(f"{text}\n\n{text}".rstrip()).count("::")
    assert_is_visible(line.removeprefix("::"))


def test_a_property_of_an_annotation_ends_where_it_ends():
    (line,) = findings.annotations(parts("a,title=b::c\nd"))
    properties = line.removeprefix("::warning ").split("::", 1)[0]
    assert [one.split("=")[0] for one in properties.split(",")] == ["file", "line", "title"]


# ---------------------------------------------------------------- replays


@HOSTILE
def test_the_test_that_is_written_holds_it_as_data(text, tmp_path):
    written = saved.save(found_divergence(text), 0, tmp_path)
    source = written.test.read_text("ascii")
    tree = ast.parse(source)

    kinds = [type(node) for node in tree.body]
    assert kinds == [ast.Expr, *[ast.Import] * 3, *[ast.Assign] * 3, ast.FunctionDef]
    given = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    assert ast.literal_eval(given["ADAPTER"]) == text
    assert ast.literal_eval(given["EVENTS"]) == list(EVENTS)
    assert not [one for one in ast.walk(tree) if isinstance(one, ast.JoinedStr)]
    plain = saved.save(found_divergence("plain"), 0, tmp_path / "plain").test.read_text("ascii")
    assert len(list(ast.walk(tree))) == len(list(ast.walk(ast.parse(plain))))
    assert saved.load(written.replay).adapter == escape.utf8(text)
    (trace,) = tmp_path.glob("*/*.itf.json")
    assert saved.load(trace).events == EVENTS


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """The module for each text, and the output of TLC's parser for all modules."""
    folder = tmp_path_factory.mktemp("modules")
    written = {text: saved.save(found_divergence(text), 0, folder).module for text in CORPUS.values()}
    with specification() as among:
        for module in written.values():
            (among / module.name).write_bytes(module.read_bytes())
        parser = [find_java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Djava.io.tmpdir={among}"]
        parser += ["-cp", str(find_jar()), "tla2sany.SANY"]
        files = [module.name for module in written.values()]
        done = subprocess.run([*parser, *files], cwd=among, capture_output=True, text=True, check=False)
    return written, done.stdout.splitlines()


@HOSTILE
def test_the_module_is_parsed(text, modules):
    written, printed = modules
    assert len(set(written.values())) == len(CORPUS)
    assert written[text].read_text("ascii").isascii()
    assert f"Semantic processing of module {written[text].stem}" in printed
    assert not [line for line in printed if "error" in line.lower()]


def test_tlc_replays_a_module_with_all_texts(tmp_path):
    answers = [found(text).got for text in CORPUS.values()]
    effects = tuple(effect for one in answers for effect in one.effects)
    state = {name: value for one in answers for name, value in one.state.items()}
    divergence = replace(found(""), got=Answer(effects, state))
    module = saved.save(replace(found_divergence(""), divergence=divergence), 0, tmp_path).module
    verdict, printed = by_tlc(module)
    assert verdict is Verdict.DIVERGES, printed
    assert printed.startswith("DIVERGES  ")


# ---------------------------------------------------------------- the command


@HOSTILE
def test_a_command_prints_nothing_that_is_not_seen(text, monkeypatch, capsys):
    @click.command()
    def command():
        click.echo(text[:9_000])
        click.echo(text[:9_000], err=True)
        raise click.UsageError(text[:9_000])

    monkeypatch.setattr(cli.CommandModules, "get_command", lambda *_: command)
    assert cli.run(["schema"]) == Exit.USAGE
    output = capsys.readouterr()
    assert_is_visible(click.unstyle(output.out))
    assert_is_visible(click.unstyle(output.err))


def test_what_moves_the_cursor_reaches_the_terminal():
    with standard_streams.visible():
        assert standard_streams.as_it_is(sys.stderr) is not sys.stderr
    assert standard_streams.as_it_is(sys.stderr) is sys.stderr


HOSTILE_ADAPTER = """
import json, sys
EVIL = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"seq": asked["seq"], "ok": True}
    if asked["op"] == "hello":
        offer = {"modes": ["exactly-once"], "profiles": ["flink-1.14"], "capabilities": []}
        answer = {"seq": asked["seq"], "protocol": 1, "implementation": EVIL, "version": EVIL,
                  "language": EVIL, "components": {"gate": offer}}
    elif asked["op"] == "apply":
        answer = {"seq": asked["seq"], "error": EVIL, "at": 0}
    sys.stderr.write(EVIL)
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    "name",
    ["title of a terminal", "bidi", "docstring", "workflow command on a line", "HTML", "shell", "newline"],
)
def test_conform_with_a_hostile_implementation(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE_ADAPTER)
    adapter = shlex.join([sys.executable, str(script), json.dumps(CORPUS[name])])
    files = [word for kind in ("json", "junit", "sarif", "html") for word in (f"--{kind}", f"found.{kind}")]
    assert cli.run(["conform", "--adapter", adapter, "--examples", "1", *files]) == Exit.DIVERGES

    output = capsys.readouterr()
    assert_is_visible(output.out)
    assert_is_visible(output.err)
    (test,) = tmp_path.glob("build/divergences/test_*.py")
    assert ast.literal_eval(ast.parse(test.read_text("ascii")).body[4].value) == adapter
    ElementTree.parse(tmp_path / "found.junit")
    assert not (tmp_path / "owned").exists()
