"""Steps of a GitHub workflow or of a composite action, executed here as a runner executes them.

Only `run` steps are executed; `uses` steps are left to GitHub. A step without `shell` runs in `bash -e`,
which does not see a failure in front of a pipe; `shell: bash` has pipefail, too.
"""

import os
import re
import subprocess
from pathlib import Path

EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")
SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}


class Runner:
    """One job in the folder of a repository; files of the runner are in `temporary`."""

    def __init__(self, folder: Path, temporary: Path, **environment: str) -> None:
        self.folder, self.temporary = folder, temporary
        temporary.mkdir(parents=True, exist_ok=True)
        self.summary = temporary / "summary"
        self.failed = False
        self.printed = ""
        self.outputs: dict[str, str] = {}
        """By `steps.<id>.outputs.<name>`."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COLUMNS"))
        }
        given = {"GITHUB_ACTIONS": "true", "RUNNER_TEMP": str(temporary), "GITHUB_WORKSPACE": str(folder)}
        self.environment = {**own, **given, "GITHUB_STEP_SUMMARY": str(self.summary), **environment}

    def run(self, steps: list[dict], **inputs: str) -> int:
        """Runs the job. Returns 0, or the exit code of the first step that failed."""
        code = 0
        contexts = {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        for number, step in enumerate(steps):
            when = step.get("if", "success()")
            if "run" not in step or not ("always()" in when or ("failure()" in when) == self.failed):
                continue
            output = self.temporary / f"output-{number}"
            output.touch()

            def value(text: str) -> str:
                return EXPRESSION.sub(lambda found: {**contexts, **self.outputs}.get(found[1], ""), text)

            script = self.temporary / "step.sh"
            script.write_text(value(step["run"]), encoding="utf-8")
            given = {name: value(str(text)) for name, text in step.get("env", {}).items()}
            done = subprocess.run(
                [*SHELLS[step.get("shell")], str(script)],
                cwd=self.folder / value(step.get("working-directory", ".")),
                env={**self.environment, **given, "GITHUB_OUTPUT": str(output)},
                capture_output=True,
                text=True,
                check=False,
            )
            self.printed += done.stdout + done.stderr
            for line in output.read_text(encoding="utf-8").splitlines():
                name, _, text = line.partition("=")
                self.outputs[f"steps.{step.get('id')}.outputs.{name}"] = text
            if done.returncode and not self.failed:
                self.failed, code = True, done.returncode
        return code

    def use(self, action: dict, **inputs: str) -> int:
        """Runs a composite action with these inputs, and its defaults for the others."""
        defaults = {name.replace("-", "_"): one.get("default", "") for name, one in action["inputs"].items()}
        assert set(inputs) <= set(defaults)
        return self.run(action["runs"]["steps"], **{**defaults, **inputs})
