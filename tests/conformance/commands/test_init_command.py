"""`init` writes an adapter that conforms, in every language, and overwrites no file."""

import shlex
import shutil
import subprocess

import pytest
import yaml

from conformance import cli
from conformance.adapters.choose import open_adapter
from conformance.drive import known_divergences
from conformance.drive.smoke import smoke
from conformance.skeletons import KNOWN, ExistsError, languages, skeleton, write_skeleton

COMPILERS = {"python": "python3", "java": "java", "javascript": "node", "go": "go", "rust": "rustc"}


@pytest.mark.parametrize("language", languages())
def test_an_adapter_of_every_language_speaks_the_protocol(language, tmp_path, monkeypatch):
    if shutil.which(COMPILERS[language]) is None:
        pytest.skip(f"{COMPILERS[language]} is not installed")
    monkeypatch.chdir(tmp_path)
    made = skeleton(language)
    write_skeleton(made, tmp_path, keep=False)
    if made.build:
        subprocess.run(shlex.split(made.build.replace(" -O ", " ")), check=True)
    adapter = open_adapter(languages()[language]["run"])
    try:
        checks = list(smoke(adapter))
    finally:
        adapter.bye()

    assert len(checks) == 11
    assert [check for check in checks if check.wrong is not None] == []
    assert known_divergences.read(tmp_path / KNOWN) == []


@pytest.mark.parametrize("language", languages())
def test_workflow_and_hooks_give_the_same_commands(language):
    made = skeleton(language, "/my wheels/barrierspec.whl")
    workflow = yaml.safe_load(made.files[".github/workflows/barrierspec.yml"])
    steps = workflow["jobs"]["conform"]["steps"]
    hooks = yaml.safe_load(made.files[".pre-commit-config.yaml"])["repos"][0]["hooks"]
    build, first, second, _ = [step["run"] for step in steps if "run" in step][-4:]
    commands = [["bash", "-c", f"{made.build} && {line}"] if made.build else shlex.split(line)
                for line in (made.smoke, made.conform)]  # fmt: skip

    assert first == made.smoke
    assert second == f"{made.conform} --annotations build/annotations"
    assert made.build in (build, None)
    assert [shlex.split(hook["entry"]) for hook in hooks] == commands
    assert {hook["language"] for hook in hooks} == {"python"}
    assert hooks[0]["additional_dependencies"] == ["/my wheels/barrierspec.whl"]


def test_hooks_use_the_installed_command_if_the_wheel_is_in_the_repository():
    text = skeleton("python", "./my wheels/barrierspec.whl").files[".pre-commit-config.yaml"]
    hooks = yaml.safe_load(text)["repos"][0]["hooks"]

    assert {hook["language"] for hook in hooks} == {
        "system"
    }  # other languages are installed in another folder
    assert not any("additional_dependencies" in hook for hook in hooks)


def test_a_file_that_exists_is_not_overwritten(tmp_path, capsys):
    hooks = tmp_path / ".pre-commit-config.yaml"
    hooks.write_text("repos: []\n")
    command = ("init", str(tmp_path), "--language", "python")

    with pytest.raises(ExistsError, match="give another folder, or --keep"):
        write_skeleton(skeleton("python"), tmp_path, keep=False)
    assert cli.run(command) == 64
    assert [path.name for path in tmp_path.iterdir()] == [hooks.name]
    capsys.readouterr()

    assert cli.run([*command, "--keep"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert hooks.read_text() == "repos: []\n"
    assert f"  kept    {hooks}" in printed
    assert printed[4].startswith(f"  next    cd {tmp_path} && barrierspec smoke --adapter 'python3 ")
