"""A place to try render.sh in: its tools are stand-ins that write down how they are called."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .conftest import ROOT

BASH = shutil.which("bash") or "/bin/bash"

#: does what `python -m venv` and `pip` leave behind, and passes -c on to a real Python
PYTHON = f"""#!{BASH}
echo "python $*" >>"$CALLS"
case "$1 ${{2:-}}" in
    "-c "*) exec {sys.executable} "$@" ;;
    "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    "-m pip") echo "Collecting one"; sleep "${{PIP_SLEEP:-0}}"; echo "Collecting two"
        exit "${{PIP_EXIT:-0}}" ;;
    "-I -S") shift 4; printf '[%s]\\n' render "$@" ;;
esac
"""


class House:
    """A copy of the project's front door in ``folder``, with a PATH of stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "the project 课"
        self.tools = folder / "tools"
        self.calls = folder / "calls"
        for made in (self.project, self.tools):
            made.mkdir()
        for name in ("render.sh", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, self.project / name)
        for name in ("dirname", "readlink", "cksum", "cat", "rm", "mv", "mkdir", "cp", "touch"):
            self.link(name)
        for name in ("sleep", "grep", "env", "bash"):
            self.link(name)
        self.tool("python3.11", PYTHON)
        self.tool("id", "echo 0")
        self.tool("uname", "echo Linux")
        for name in ("cc", "pkg-config", "apt-get", "apt-cache"):
            self.tool(name, "")

    def link(self, name: str) -> None:
        found = shutil.which(name)
        assert found
        (self.tools / name).symlink_to(found)

    def tool(self, name: str, text: str) -> None:
        path = self.tools / name
        path.unlink(missing_ok=True)
        if not text.startswith("#!"):
            text = f'#!{BASH}\necho "{name} $*" >>"$CALLS"\n{text}\n'
        path.write_text(text)
        path.chmod(0o755)

    def without(self, name: str) -> None:
        (self.tools / name).unlink()

    def start(
        self, *arguments: str, script: Path | None = None, stderr: int = -1, **more: str
    ) -> subprocess.Popen[str]:
        environment = {"PATH": str(self.tools), "CALLS": str(self.calls), "HOME": "/", **more}
        return subprocess.Popen(
            [BASH, str(script or self.project / "render.sh"), *arguments],
            env=environment,
            cwd=self.calls.parent,
            text=True,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )

    def run(
        self, *arguments: str, script: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        self.calls.write_text("")
        process = self.start(*arguments, script=script, **more)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def called(self, word: str) -> list[str]:
        return [line for line in self.calls.read_text().splitlines() if word in line]
