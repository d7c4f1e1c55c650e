"""Every example of README and docs, run on the sample repository and compared with the output shown there.

`test_using.py` runs those of docs/USING.md.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import make_sample
from dowse.interfaces.cli import main
from dowse.interfaces.cli.main import parse_arguments

ROOT = Path(__file__).parents[3]
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# They run until they are stopped; a test of their own starts them.
SERVERS = ("serve", "watch", "mcp", "lsp")
# What has to be there before the examples of a command.
PREPARED = {
    "README.md": "DOWSE_ENCODER=base dowse index -q",
    "docs/QUICKSTART.md": "rm src/bakery/pastry.py; DOWSE_ENCODER=base dowse index -q",  # as a reader has it
    "docs/EVALUATION.md": (
        "printf '%s\\n' \"$CASES\" > cases.jsonl; printf 'how is an order read\\n' > questions.txt"
    ),
}
FAILED_TEST = "src/bakery/orders.py:34: ValueError: not a number of loaves"
# Each group of examples begins with the same files, index and choices; a copy of the index is made once.
_INDEX = 'dowse index -q --rebuild --no-embed && cp -a "$DOWSE_CACHE_DIR/indexes" "$HOME/indexes"'
_RESET = (
    'git checkout -q .; git clean -fdq; rm -rf "$DOWSE_DATA_DIR" "$DOWSE_CACHE_DIR/indexes";'
    ' cp -a "$HOME/indexes" "$DOWSE_CACHE_DIR/indexes"'
)
CASES = '{"query": "read an order", "relevant_files": ["src/bakery/orders.py"]}'
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^```(?:sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SUBCLASS = '''"""Pastry."""

from .bread import Dough


class Croissant(Dough):
    """Butter, mostly."""

    def rise(self):
        """Wait over night."""
        self.risen = True
'''
HISTORY = (
    (
        "src/bakery/orders.py",
        "raise TimeoutError(delay)",
        "raise TimeoutError(str(delay))",
        "Say how long it took",
    ),
    (
        "web/cart.js",
        "decodeURIComponent(value)",
        'decodeURIComponent(value ?? "")',
        "Accept empty cookies",
    ),
    ("service/oven/oven.go", "degrees > 300", "degrees > 280", "Limit the temperature of the oven"),
)


class Command(NamedTuple):
    """A line of an example, and the output shown below it."""

    line: str
    output: str = ""


def commands(document: Path) -> list[Command]:
    """Return the commands of the console blocks of a document."""
    found = []
    for block in _CONSOLE.findall(document.read_text()):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = example.partition("\n")
            found.append(Command(re.sub(r"\s{2,}# .*", "", line), output.strip("\n")))
    return found


WITH_CONSOLE = [each for each in DOCS if commands(each) and each.name != "USING.md"]


class Workshop:
    """The sample repository with some history, two others in a home, and a shell."""

    def __init__(self, folder: Path) -> None:
        self.home, self.repository = folder, folder / "bakery"
        make_sample(self.repository)
        (self.repository / "src/bakery/pastry.py").write_text(SUBCLASS)
        shutil.rmtree(self.repository / ".git")
        for name in ("shop", "bank"):
            shutil.copytree(self.repository / "web", folder / "src" / name)
        self.environment = {
            **os.environ,
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "XDG_CACHE_HOME": str(folder / ".cache"),
            "DOWSE_CACHE_DIR": str(folder / "cache"),
            "DOWSE_DATA_DIR": str(folder / "data"),
            "GIT_CONFIG_GLOBAL": str(folder / ".gitconfig"),
            "PATH": os.pathsep.join(
                [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "BROWSER": "true",
            "CASES": CASES,
            "TOKEN": "a-secret-of-the-test",
        }
        (folder / "bin").mkdir()
        (folder / "bin" / "pytest").write_text(f"#!/bin/sh\necho '{FAILED_TEST}'\n")
        (folder / "bin" / "pytest").chmod(0o755)
        self.shell("git init -q -b main && git config user.name Ada && git config user.email a@example.org")
        self.shell("git add . && git commit -qm begin")
        for path, old, new, subject in HISTORY:
            file = self.repository / path
            file.write_text(file.read_text().replace(old, new))
            self.shell(f"git commit -qam {shlex.quote(subject)}")

    def shell(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script in the repository."""
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.repository,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    for script, encoder in (("dowse index -q", "base"), (_INDEX, "none")):
        indexed = made.shell(script, DOWSE_ENCODER=encoder)
        assert indexed.returncode == 0, indexed.stderr
    return made


def compare(workshop: Workshop, line: str, shown: str = "") -> None:
    """Run an example and compare its output with that in the document, if there is any."""
    if not line.startswith(("dowse ", "printf ", "pytest ")):
        raise AssertionError(f"no test runs {line}")
    needs_encoder = shown or " related " in line
    done = workshop.shell(
        line, **({"DOWSE_ENCODER": "base", "DOWSE_ISOLATION": "auto"} if needs_encoder else {})
    )
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, (line, done.stderr)
    if shown:
        assert done.stdout.strip("\n") == shown, (line, done.stdout, done.stderr)


def test_examples_of_the_whole_command(workshop):
    for line in main.EXAMPLES.splitlines():
        command = re.split(r"\s{2,}", line.strip())[0]
        compare(workshop, command)


def serve_briefly(workshop: Workshop, line: str) -> None:
    """Start what runs until it is stopped, wait for its first line, and stop it."""
    words = shlex.split(line)
    words = [word.replace("~", str(workshop.home)).replace("$TOKEN", "secret") for word in words]
    if words[1] == "serve" and "--port" not in words:
        words += ["--port", "0"]  # another test may have the usual one
    if "--http" in words:
        words[words.index("--http") + 1] = "0"
    process = subprocess.Popen(
        words,
        cwd=workshop.repository,
        env=workshop.environment,
        stdin=subprocess.DEVNULL,  # at its end, servers over stdio end too
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        first = process.stdout.readline()
        if words[1] not in ("mcp", "lsp") or "--http" in words:
            assert first, line
            process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode in (0, 130), (line, first, rest)
    assert "Traceback" not in first + rest, line


# Documents


@pytest.mark.parametrize("document", WITH_CONSOLE, ids=lambda path: path.name)
def test_console_blocks(workshop, document):
    name = str(document.relative_to(ROOT))
    ready = workshop.shell(f"{_RESET}; {PREPARED.get(name, 'true')}")
    assert ready.returncode == 0, ready.stderr
    for line, shown in commands(document):
        words = line.split()
        if words[0] == "cd":
            assert (workshop.home / words[1].removeprefix("~/")).is_dir(), line
        elif words[0].startswith("scripts/"):  # run by those who work on dowse, and by its own tests
            assert subprocess.run(["bash", "-n", ROOT / words[0]], check=False).returncode == 0, line
        elif words[0] == "curl":
            continue  # test_requests
        elif words[1] in SERVERS:
            serve_briefly(workshop, line)
        else:
            compare(workshop, line, shown)


def test_questions_of_the_quickstart(workshop):
    """Each row of its table finds something in the sample."""
    table = (ROOT / "docs/QUICKSTART.md").read_text()
    rows = re.findall(r"^\| .+ \| `((?:dowse|pytest) .+?)` \| ", table, re.MULTILINE)
    assert len(rows) > 10
    for line in rows:
        done = workshop.shell(line.replace("\\|", "|"))
        assert done.returncode == 0 and done.stdout, (line, done.stderr)


def test_requests(workshop):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    with server(workshop) as address:
        for line, _ in commands(ROOT / "docs" / "HTTP.md"):
            if line.startswith("curl"):
                line = line.replace("localhost:8742", address).replace("$DOWSE_TOKEN", "secret")
                done = workshop.shell(line + " --fail")
                assert done.returncode == 0 and done.stdout.startswith("{"), (line, done.stderr)


class server:
    """A `dowse serve` with its address."""

    def __init__(self, workshop: Workshop) -> None:
        self._process = subprocess.Popen(
            ["dowse", "serve", "--port", "0"],
            cwd=workshop.repository,
            env={**workshop.environment, "DOWSE_TOKEN": "secret"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> str:
        for line in self._process.stdout:
            if found := re.search(r"127\.0\.0\.1:\d+", line):
                return found[0]
        raise AssertionError("no address")

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=300)


def shell_lines(document: Path) -> Iterator[str]:
    for block in _SHELL.findall(document.read_text()):
        yield from block.replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("name", ["CLUSTER.md", "TRAINING.md", "ENCODER.md", "REPOSITORIES.md", "FAQ.md"])
def test_commands_that_need_a_cluster_or_an_accelerator_can_be_parsed(name):
    for line in shell_lines(ROOT / "docs" / name):
        words = shlex.split(line, comments=True)
        if words[:1] == ["dowse"] and words[1] not in ("train", "eval"):
            parse_arguments(words[1:])


@pytest.mark.parametrize(
    ("name", "found"), [("README.md", "retry_with_backoff"), ("docs/QUICKSTART.md", "bake_bread")]
)
def test_the_python_example(workshop, name, found):
    (block,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL)
    done = workshop.shell(f"{shlex.quote(sys.executable)} -c {shlex.quote(block)}")
    assert done.returncode == 0 and found in done.stdout, done.stderr
