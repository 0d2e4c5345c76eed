"""A revision is resolved to a commit before git gets it, and only checkouts of barrierspec are compared."""

import subprocess

import pytest

from conformance import cli
from conformance.adapters.in_process import InProcess
from conformance.adapters.protocol import Crashed
from conformance.change import repository as repositories
from conformance.change.behaviour import changes
from conformance.change.compare_revisions import Reprofiled
from conformance.change.repository import ChangeError
from conformance.vectors.vector import vector_of
from conformance.verdict import Exit

IDENTITY = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")


def git(folder, *words):
    done = subprocess.run(
        ["git", "-C", str(folder), *IDENTITY, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with folders like ours, one commit, and a change of the model that is not committed."""
    folder = tmp_path / "checkout"
    for name in ("model/gate.py", "spec/rules.toml", "conformance/cli.py"):
        file = folder / name
        file.parent.mkdir(parents=True)
        file.write_text("first\n", encoding="utf-8")
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    (folder / "model/gate.py").write_text("second\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


OPTIONS = ("--cached", "-R", "--ext-diff", "--no-index", "-h", "HEAD..HEAD", "^HEAD", "", "HEAD:model")


@pytest.mark.parametrize("value", OPTIONS)
@pytest.mark.usefixtures("checkout")
def test_a_base_that_is_no_commit_is_wrong_usage(value, capsys):
    assert cli.run(["gate", f"--base={value}"]) == Exit.USAGE
    output = capsys.readouterr()
    assert "CONFORMS" not in output.out
    assert "expected a commit" in output.err


@pytest.mark.parametrize(
    "command", [("gate", "--base={}"), ("diff", "--", "{}"), ("diff", "--", "HEAD", "{}")]
)
def test_an_option_of_git_that_writes_a_file_writes_nothing(checkout, command):
    file = checkout / "precious"
    file.write_text("kept\n", encoding="utf-8")
    words = [word.format(f"--output={file}") for word in command]
    assert cli.run(words) == Exit.USAGE
    assert file.read_text(encoding="utf-8") == "kept\n"


@pytest.mark.parametrize("words", [("gate", "--base", "HEAD"), ("diff", "HEAD"), ("diff", "HEAD", "HEAD")])
def test_a_repository_of_something_else_is_wrong_usage(words, tmp_path, monkeypatch, capsys):
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "base")
    monkeypatch.chdir(tmp_path)
    assert cli.run(list(words)) == Exit.USAGE
    output = capsys.readouterr().err
    assert "expected a checkout of barrierspec" in output
    for instead in ("barrierspec conform", "barrierspec matrix", "barrierspec diff --adapter OLD"):
        assert instead in output


def test_a_folder_without_a_repository_is_wrong_usage(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert cli.run(["gate", "--base", "HEAD"]) == Exit.USAGE
    assert "expected a checkout of barrierspec" in capsys.readouterr().err


def test_a_base_that_is_a_repository_of_something_else_is_wrong_usage(checkout, capsys):
    git(checkout, "checkout", "-q", "--orphan", "other")
    git(checkout, "rm", "-q", "-r", "-f", "--cached", ".")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "other")
    assert cli.run(["gate", "--base", "other"]) == Exit.USAGE
    assert "has no model" in capsys.readouterr().err


def test_a_folder_inside_the_checkout_is_compared_as_the_whole_checkout(checkout, monkeypatch):
    monkeypatch.chdir(checkout / "spec")
    found = repositories.find(checkout / "spec")
    assert found == checkout.resolve()
    assert repositories.differs(found, repositories.commit(found, "HEAD"), ("model", "spec/rules.toml"))


def test_a_configured_external_diff_is_ignored(checkout):
    git(checkout, "config", "diff.external", "true")
    assert repositories.differs(checkout, repositories.commit(checkout, "HEAD"), ("model",))


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_whose_changes_git_does_not_show_is_compared(flag, checkout):
    git(checkout, "update-index", flag, "model/gate.py")
    assert repositories.differs(checkout, repositories.commit(checkout, "HEAD"), ("model",))


def test_a_configured_filter_is_ignored(checkout):
    (checkout / ".git/info/attributes").write_text("*.py filter=first\n", encoding="utf-8")
    git(checkout, "config", "filter.first.clean", "cat > /dev/null; echo first")
    assert repositories.differs(checkout, repositories.commit(checkout, "HEAD"), ("model",))


def test_a_deleted_file_is_a_difference(checkout):
    (checkout / "model/gate.py").write_text("first\n", encoding="utf-8")
    head = repositories.commit(checkout, "HEAD")
    assert not repositories.differs(checkout, head, ("model", "spec/rules.toml"))
    (checkout / "model/gate.py").unlink()
    assert repositories.differs(checkout, head, ("model", "spec/rules.toml"))


def test_a_branch_that_is_called_like_an_option_is_resolved(checkout):
    head = git(checkout, "rev-parse", "HEAD")
    git(checkout, "update-ref", "refs/heads/--cached", head)
    assert repositories.commit(checkout, "--cached") == head
    assert repositories.commit(checkout, "HEAD") == head


def test_untracked_files_are_a_difference(checkout):
    (checkout / "model/gate.py").write_text("first\n", encoding="utf-8")
    head = repositories.commit(checkout, "HEAD")
    assert not repositories.differs(checkout, head, ("model",))
    (checkout / "model/new.py").write_text("new\n", encoding="utf-8")
    assert repositories.differs(checkout, head, ("model",))


# ---------------------------------------------------------------- sides that cannot answer


class Gone(InProcess):
    """An implementation whose process cannot be started."""

    def __init__(self):
        super().__init__("gone", {}, ())

    def new(self, component, config):
        return Crashed("it ended with exit code 1", "ImportError")


def test_a_comparison_with_a_side_that_crashes_is_an_error():
    vector = vector_of("walk", "gate", {"channels": 1, "mode": "exactly-once"}, [])
    for old, new in ((Gone(), Gone()), (Gone(), Reprofiled("flink-1.14"))):
        with pytest.raises(ChangeError, match="crashed: it ended with exit code 1"):
            list(changes(old, new, [vector]))
