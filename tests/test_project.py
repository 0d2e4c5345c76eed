"""Checks of the repository: its top level, its pins, its sizes, and the reason for each dependency."""

import ast
import re
import tomllib
from collections import Counter
from importlib import metadata
from pathlib import Path

import grimp
import networkx
import yaml
from packaging.specifiers import SpecifierSet

from conformance.rules.protocol_modules import all_protocol_files
from tests.distribution import ON_SPARK, ONE_BY_ONE, SLOWEST

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[]", requirement)[0] for requirement in requirements}


def direct() -> set[str]:
    listed = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return set().union(*map(names, listed)) - {PROJECT["name"]}


def test_every_dependency_is_pinned():
    lines = (ROOT / ".ci/constraints.txt").read_text(encoding="utf-8").split()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}

    assert len(pinned) == len(lines)
    assert {name.lower() for name in direct()} <= pinned


def test_every_pin_can_be_installed_on_the_first_release_of_the_least_python():
    least = PROJECT["requires-python"].removeprefix(">=") + ".0"
    required = {found.name: found.metadata.get("Requires-Python") for found in metadata.distributions()}

    refusing = {
        name for name, versions in required.items() if versions and least not in SpecifierSet(versions)
    }
    assert refusing == set()


def test_every_dependency_is_justified_once():
    text = (ROOT / "docs/reference/dependencies.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([\w-]+) \|", text, flags=re.MULTILINE)

    assert sorted(name for name in shown if name != "package") == sorted(direct())


def test_the_readme_has_no_gap():
    assert "@@" not in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_top_level_is_that_of_the_readme():
    visible = {
        "spec", "model", "impl", "conformance", "tests", "docs", "pyproject.toml",
        "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "action.yml",
        "mkdocs.yml",
    }  # fmt: skip
    made = {"build", "dist", "barrierspec.egg-info", "states"}
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith((".", "__"))}

    assert there - made == visible


MAINTAINED = {"conformance.bench", "conformance.pictures", "conformance.playground", "conformance.site"}
"""Packages that only a checkout has."""
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


NOT_SCHEDULED = {
    "help": "it prints the targets",
    "setup": "every target does it first",
    "format": "it changes the code; lint compares",
    "check": "a selection of lint and test",
    "clean": "it removes what the targets made",
    "doctor": "it is about the machine",
    "bench": "it measures, and a shared runner gives no stable figures",
    "pictures": "it writes pages; the tests compare them",
    "generations": "it writes a page; the tests compare it",
}
"""Targets of the Makefile that no workflow runs, each with the reason."""


def test_every_target_runs_in_ci_or_once_a_week_or_has_a_reason():
    makefile, ci = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", ".ci/run"))
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, flags=re.MULTILINE))
    workflows = {path.stem: path.read_text(encoding="utf-8") for path in ROOT.glob(".github/workflows/*.yml")}
    job = yaml.safe_load(workflows["scheduled"])["jobs"]["make"]
    commands = [one["target"] for one in job["strategy"]["matrix"]["include"]]
    weekly = {one.split()[0] for one in commands}
    run = re.findall(r"\bmake ([a-z-]+)", "\n".join((ci, *workflows.values())))

    assert "make ${{ matrix.target }}" in [step.get("run") for step in job["steps"]]
    assert len(commands) == len(set(commands))
    assert Counter([*NOT_SCHEDULED, *weekly, *set(run)]) == Counter(
        [*targets, "mutants"]
    )  # CI: those of a layer


def test_every_package_of_the_tree_is_shipped_but_those_of_maintainers():
    from setuptools import find_packages  # not in every process that collects the tests

    shipped = find_packages(str(ROOT), **SETUPTOOLS["packages"]["find"])
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for house in ("spec", "model", "impl", "conformance")
        for path in (ROOT / house).rglob("*.py")
    }

    assert set(shipped) == {name for name in folders if ".".join(name.split(".")[:2]) not in MAINTAINED}


def test_every_file_beside_the_code_is_shipped():
    shipped = {
        path
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package).glob(pattern)
    }
    beside = {
        path
        for house in ("spec", "model", "impl", "conformance")
        for path in (ROOT / house).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    excluded = SETUPTOOLS["exclude-package-data"]["conformance"]
    kept_back = {path for name in excluded for path in (ROOT / "conformance").glob(f"{name}*/*")}

    assert beside
    assert beside == shipped
    assert {path for path in kept_back if path.is_file()} >= {
        path for path in beside if ".".join(path.relative_to(ROOT).parts[:2]) in MAINTAINED
    }


def test_what_we_start_of_our_own_takes_nothing_of_the_folder_it_is_started_in():
    unsafe = [
        f"{room.relative_to(ROOT)}:{node.lineno}"
        for house in ("spec", "model", "impl", "conformance")
        for room in (ROOT / house).rglob("*.py")
        for node in ast.walk(ast.parse(room.read_text(encoding="utf-8")))
        if isinstance(node, ast.List | ast.Tuple)
        and "-m" in (words := [one.value for one in node.elts if isinstance(one, ast.Constant)])
        and "-P" not in words
    ]

    assert not unsafe


def test_protocol_modules_neither_read_nor_print():
    files = [*(ROOT / "impl/core").rglob("*.py"), *all_protocol_files()]
    files += [path for name in ("properties", "wire") for path in (ROOT / "model").glob(f"*/{name}*/**/*.py")]
    called = {
        (file.name, node.func.id)
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert files
    assert not {(file, name) for file, name in called if name in {"open", "input", "print"}}


def test_protocol_modules_import_nothing_but_the_model_and_types():
    imported = {
        module.partition(".")[0]
        for file in all_protocol_files()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in (
            [node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
        )
    }

    assert imported == {"collections", "dataclasses", "model", "types", "typing"}


def test_no_modules_import_each_other_in_a_cycle():
    """This includes imports for types alone.

    One pair is allowed: a Job has streams, and a Stream belongs to a Job.
    """
    graph = grimp.build_graph("spec", "model", "impl", "conformance", cache_dir=None)
    imports = networkx.DiGraph(
        (module, imported)
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    )

    assert imports.number_of_edges() > 1_000
    rings = [sorted(ring) for ring in networkx.strongly_connected_components(imports) if len(ring) > 1]
    assert rings == [["impl.job", "impl.streams"]]


def test_no_folder_holds_more_than_sixteen_files():
    files: dict[str, int] = {}
    for package in ("model", "impl", "conformance"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                folder = str(path.parent.relative_to(ROOT))
                files[folder] = files.get(folder, 0) + 1

    assert files
    assert not {folder: count for folder, count in files.items() if count > 16}


HOUSES = ("spec", "model", "impl", "conformance", "docs", "tests")
LINES, FILES = 400, 16
WRITTEN = {".css", ".java", ".jinja", ".js", ".md", ".py", ".tla"}
SIZES = tomllib.loads((ROOT / "tests/size_exceptions.toml").read_text(encoding="utf-8"))
"""What is generated, and what is above a limit; an entry may only shrink, and goes when it is not needed."""


def written_files() -> list[Path]:
    """Every file below HOUSES that a person writes or a command makes, without caches."""
    return [
        path
        for house in HOUSES
        for path in (ROOT / house).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
    ]


def is_made(path: Path) -> bool:
    """Whether the first line of a file states that a command makes it."""
    with path.open(encoding="utf-8") as file:
        return file.readline().startswith("# Made from ")


def grown(sizes: dict[str, int], limit: int, exceptions: dict[str, int]) -> dict[str, int]:
    """The files or folders above their limit: `limit`, or the size that an exception allows."""
    return {name: size for name, size in sizes.items() if size > exceptions.get(name, limit)}


def not_needed(sizes: dict[str, int], limit: int, exceptions: dict[str, int]) -> set[str]:
    """The exceptions whose file is gone, or is within the limit now."""
    return {name for name in exceptions if sizes.get(name, 0) <= limit}


def test_a_file_has_at_most_400_lines():
    lengths = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").count("\n")
        for path in written_files()
        if path.suffix in WRITTEN and not is_made(path)
    }
    lengths = {name: length for name, length in lengths.items() if name not in SIZES["generated"]["files"]}

    assert len(lengths) > 900
    assert grown(lengths, LINES, SIZES["lines"]) == {}
    assert not_needed(lengths, LINES, SIZES["lines"]) == set(), "remove them from tests/size_exceptions.toml"


def test_hand_written_python_stays_below_its_bound():
    """The bound is rounded up to a thousand lines, so that a rule or a repair needs no entry here."""
    lines = sum(
        path.read_text(encoding="utf-8").count("\n")
        for path in written_files()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] != "tests" and not is_made(path)
    )
    bound = SIZES["python"]["thousands"] * 1_000

    assert lines <= bound
    assert lines > bound - 2_000, "lower it in tests/size_exceptions.toml"


def test_a_folder_has_at_most_16_files():
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in written_files())
    counts = {name: count for name, count in counts.items() if name not in SIZES["generated"]["folders"]}

    assert len(counts) > 100
    assert grown(counts, FILES, SIZES["files"]) == {}
    assert not_needed(counts, FILES, SIZES["files"]) == set(), "remove them from tests/size_exceptions.toml"


def test_the_units_that_are_distributed_first_exist():
    assert [name for name in (*SLOWEST, *ONE_BY_ONE, *ON_SPARK) if not (ROOT / name).exists()] == []
