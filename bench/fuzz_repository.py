"""Fuzz what comes with a repository: git folders and ignore files, seeded.

`--what git` writes mutated git folders (configuration, HEAD, refs, `.git` files, links, FIFOs and devices in
their places), asks everything that dowse reads from them, and mines a sample of mutated real repositories.
`--what ignore` writes ignore files and walks a small tree of awkward names. A case fails with an exception
other than DowseError, after more than `--seconds`, if another repository's content is found, or if a process
other than git is started.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse.errors import DowseError
from dowse.source import git
from dowse.source.walk import walk

from common import peak_megabytes, work_folder, write_results

MAX_SECONDS, MAX_MEMORY_MB = 5, 500
OWN_COMMIT, VICTIM_COMMIT = "0123456789" * 4, "feedface" * 5
VICTIM = "victim/private"
# How many cases of git folders there are for each that is mined, which takes some processes.
MINED_SHARE = 100


class Hang(BaseException):
    """Raised by the alarm; no handler in dowse catches it."""


class Outcome:
    """What went wrong, and what was started."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.cases = 0
        self.tracebacks: list[str] = []
        self.hangs: list[str] = []
        self.leaks: list[str] = []
        self.slowest = 0.0
        self.other_processes: set[str] = set()
        sys.addaudithook(self._note_process)

    def _note_process(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
            program = os.path.basename(os.fsdecode(arguments[0]))  # type: ignore[arg-type]
            if program != "git":
                self.other_processes.add(program)
        elif event in ("os.system", "os.startfile"):
            self.other_processes.add(str(arguments[0]))

    def check(self, name: str, case: Callable[[], object]) -> None:
        """Run one case."""
        started = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            found = case()
            if any(trace in str(found) for trace in (VICTIM, VICTIM_COMMIT, "/victim/.git")):
                self.leaks.append(name)
        except DowseError as error:
            if "\n" in str(error):
                self.tracebacks.append(f"{name}: more than one line: {error}")
        except Hang:
            self.hangs.append(name)
        except Exception:
            self.tracebacks.append(f"{name}: {traceback.format_exc()[-600:]}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.cases += 1
        self.slowest = max(self.slowest, time.perf_counter() - started)

    def report(self) -> dict[str, object]:
        """Return the figures."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        return {
            "cases": self.cases,
            "tracebacks": len(self.tracebacks),
            "hangs": len(self.hangs),
            "read_another_repository": len(self.leaks),
            "other_processes": sorted(self.other_processes),
            "limit_s": self.seconds,
            "slowest_s": round(self.slowest, 2),
            "peak_memory_mb": max(
                peak_megabytes(), children // (1 << 10 if sys.platform == "linux" else 1 << 20)
            ),
            "first_failures": [*self.tracebacks, *self.hangs, *self.leaks][:5],
        }


def is_clean(report: dict[str, object]) -> bool:
    """Whether a report has nothing that must not be."""
    counts = ("tracebacks", "hangs", "read_another_repository", "other_processes")
    return not any(report[name] for name in counts) and float(str(report["peak_memory_mb"])) <= MAX_MEMORY_MB


# --- bytes and files ---

FRAGMENTS = (
    *(
        b"\0",
        b"\n",
        b"\r\n",
        b"\\",
        b'"',
        b"[",
        b"]",
        b"=",
        b"..",
        b"/",
        b"//",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"@{",
    ),
    *(
        b"ref: ",
        b"gitdir: ",
        b"refs/heads/",
        b"../" * 30,
        b"/dev/zero",
        b"\x1b]0;x\x07",
        b"A" * 5000,
        b"\n" * 300,
    ),
    *(
        b'[remote "origin"]\n\turl = ',
        b"[include]\n\tpath = /etc/passwd\n",
        b"worktree = ",
        b"# ",
        b"; ",
        b"\t",
    ),
    *(b"c0ffee00" * 5, OWN_COMMIT.encode(), b"{victim}", b"{victim}/.git", b"99999999999999999999"),
)


def mutate(chance: random.Random, data: bytes, fragments: tuple[bytes, ...] = FRAGMENTS) -> bytes:
    """Return data with some bytes changed, inserted, taken out or repeated."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(changed))
        action = chance.randrange(5)
        if action == 0:
            changed[at:at] = chance.choice(fragments)
        elif action == 1:
            del changed[at : at + chance.randint(1, 20)]
        elif action == 2 and changed:
            changed[at % len(changed)] = chance.randrange(256)
        elif action == 3:
            changed[at:at] = bytes(changed[: chance.randint(0, 100)]) * chance.randint(1, 20)
        else:
            changed[at:at] = chance.randbytes(chance.randint(1, 30))
    return bytes(changed)


def replace(chance: random.Random, path: Path, victim: Path) -> None:
    """Put something that is no plain file in a file's place."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = chance.randrange(7)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.symlink_to("/dev/zero")
    elif kind == 2:
        path.symlink_to(victim / ".git" / path.name)
    elif kind == 3:
        path.symlink_to(path.name)
    elif kind == 4:
        path.mkdir()
    elif kind == 5:
        with path.open("wb") as file:
            file.truncate(20 << 30)
    else:
        with contextlib.suppress(OSError):  # only root may
            os.mknod(path, 0o20666, os.makedev(1, 5))


def remove(path: Path) -> None:
    """Remove whatever is at a path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write(path: Path, data: bytes) -> None:
    """Write a file if nothing stands in the way."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


# --- git folders ---

GIT_FILES = {
    "HEAD": b"ref: refs/heads/main\n",
    "config": b'[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.org/acme/shop.git\n',
    "refs/heads/main": OWN_COMMIT.encode() + b"\n",
    "packed-refs": b"# pack-refs with: peeled\n" + b"1" * 40 + b" refs/heads/old\n^" + b"2" * 40 + b"\n",
    "info/exclude": b"*.hidden\n",
    "commondir": b"../..\n",
    "gitdir": b"../../../.git\n",
    "objects/info/alternates": b"{victim}/.git/objects\n",
    "shallow": OWN_COMMIT.encode() + b"\n",
}
POINTERS = (
    b".data/worktrees/x",
    b".data/modules/x",
    b"{victim}/.git",
    b"{victim}/.git/worktrees/x",
    b".git",
    b"/",
)


def make_victim(folder: Path) -> Path:
    """Write the repository that must not be read."""
    for place in (".git", ".git/worktrees/x", ".git/modules/x"):
        for name, data in GIT_FILES.items():
            if name not in ("commondir", "gitdir", "shallow", "objects/info/alternates"):
                data = data.replace(OWN_COMMIT.encode(), VICTIM_COMMIT.encode())
                write(folder / place / name, data.replace(b"acme/shop", VICTIM.encode()))
    write(folder / ".git/worktrees/x/gitdir", b"/nowhere/.git\n")
    return folder


def make_git_folder(chance: random.Random, root: Path, victim: Path) -> None:
    """Write a work tree whose git folder is mutated."""
    place = root / ".git"
    if chance.random() < 0.3:
        pointer = b"gitdir: " + chance.choice(POINTERS).replace(b"{victim}", os.fsencode(victim)) + b"\n"
        write(place, mutate(chance, pointer) if chance.random() < 0.3 else pointer)
        place = root / ".data" / chance.choice(("worktrees", "modules")) / "x"
    for name, data in GIT_FILES.items():
        if chance.random() < (0.9 if name in ("HEAD", "config", "refs/heads/main") else 0.4):
            write(place / name, data.replace(b"{victim}", os.fsencode(victim)))
    for name in chance.sample(sorted(GIT_FILES), chance.randint(1, 3)):
        if chance.random() < 0.4:
            with contextlib.suppress(OSError):
                replace(chance, place / name, victim)
        else:
            data = mutate(chance, GIT_FILES[name]).replace(b"{victim}", os.fsencode(victim))
            write(place / name, data)
    if chance.random() < 0.05:
        with contextlib.suppress(OSError):
            replace(
                chance, root / chance.choice((".git", ".git/refs", ".git/info", ".git/refs/heads")), victim
            )


def ask_git(root: Path) -> list[object]:
    """Return everything that dowse reads of a git folder."""
    return [
        git.toplevel(root),
        git.git_directory(str(root)),
        git.head_commit(root),
        git.repo_identity(root),
        git.info_exclude(str(root)),
        git.global_excludes(),
        [entry.path for entry in walk(root)],
    ]


def fuzz_git(count: int, seed: int, work: Path, outcome: Outcome) -> None:
    """Try mutated git folders."""
    victim = make_victim(work / "victim")
    root = work / "case"
    for number in range(count):
        chance = random.Random(f"git {seed} {number}")
        root.mkdir()
        write(root / "a.py", b"a = 1\n")
        make_git_folder(chance, root, victim)
        outcome.check(f"git {number}", lambda: ask_git(root))
        shutil.rmtree(root)


# --- mining ---

COMMAND_KEYS = (
    *(
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.hooksPath",
        "diff.external",
        "diff.x.textconv",
    ),
    *(
        "remote.origin.uploadpack",
        "filter.x.clean",
        "gpg.program",
        "core.askPass",
        "core.alternateRefsCommand",
    ),
)


def make_real_repository(root: Path) -> None:
    """Make a repository with three commits, some of it packed."""

    def run(*arguments: str) -> None:
        subprocess.run(
            ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True
        )

    root.mkdir()
    run("init", "-q", "--template=")
    for number in range(3):
        (root / "a.py").write_text(f"def bake():\n    return {number}\n")
        run("add", ".")
        run("commit", "-qm", f"Bake loaf number {number} at home")
        if number == 1:
            run("gc", "-q")


def make_commands(chance: random.Random, marker: Path) -> bytes:
    """Return configuration that names commands, and a promisor remote to fetch from."""
    lines = ["[core]\n\trepositoryformatversion = 1", "[extensions]\n\tpartialClone = origin"]
    lines.append('[remote "origin"]\n\turl = /nowhere\n\tpromisor = true')
    for key in chance.sample(COMMAND_KEYS, 4):
        section, _, name = key.rpartition(".")
        section, _, subsection = section.partition(".")
        header = f'{section} "{subsection}"' if subsection else section
        lines.append(f"[{header}]\n\t{name} = touch {marker}; false")
    return "\n".join(lines).encode() + b"\n"


def mutate_repository(chance: random.Random, root: Path, victim: Path, marker: Path) -> None:
    """Change some files of a real git folder, its objects among them."""
    write(root / ".git/config", make_commands(chance, marker))
    files = sorted(path for path in (root / ".git").rglob("*") if path.is_file())
    objects = [path for path in files if "objects" in path.parts]
    for path in chance.sample(files, chance.randint(0, 1)) + chance.sample(objects, chance.randint(0, 2)):
        action = chance.randrange(4)
        if action == 0:
            remove(path)
        elif action == 1:
            replace(chance, path, victim)
        elif path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20:
            path.chmod(0o644)
            path.write_bytes(mutate(chance, path.read_bytes()))


def fuzz_mining(count: int, seed: int, work: Path, outcome: Outcome) -> None:
    """Mine mutated real repositories."""
    from dowse.eval.mine import build_from_git

    victim, original, root, marker = (work / name for name in ("victim", "original", "mined", "marker"))
    make_real_repository(original)
    outcome.other_processes.clear()
    for number in range(count):
        chance = random.Random(f"mine {seed} {number}")
        shutil.copytree(original, root)
        mutate_repository(chance, root, victim, marker)
        outcome.check(f"mine {number}", lambda: build_from_git(root))
        shutil.rmtree(root)
    if marker.exists():
        outcome.other_processes.add("a command of the repository's configuration")


# --- ignore files ---

PIECES = (
    *(
        b"*",
        b"**",
        b"**/",
        b"/**",
        b"?",
        b"[a-z]",
        b"[!a]",
        b"[[:alpha:]]",
        b"[",
        b"]",
        b"[]-a]",
        b"\\",
        b"\\*",
    ),
    *(
        b"!",
        b"/",
        b"a",
        b"b",
        b"*a*a*a*a*a*a*a*a*b",
        b"**/**/**/**/x",
        b"#",
        b" ",
        b"\t",
        b"\0",
        b"\xff",
        b"*.py",
    ),
    *("é".encode(), b"\r", b"\xef\xbb\xbf", b"[z-a]", b"[[:nope:]]"),
)
LONG_PIECES = (b"a" * 255, b"?" * 200, b"*a" * 300, b"a/" * 500, b"*" * 5000, b"**/a/" * 40)
NAMES = (
    *(
        b"a",
        b"b.py",
        b"a" * 255,
        b"ab" * 127,
        b"\xff\xfe",
        b"new\nline",
        b" ",
        b"[",
        b"\\",
        b"!x",
        b"#y",
        b"*",
        b"-",
    ),
    *("é".encode(), "\u202e".encode(), b"\x1b[2J", b"a.b.c.d", b".hidden"),
)


def make_tree(root: Path) -> None:
    """Write a small tree of awkward names."""
    top = os.fsencode(root)
    folders = (b"", b"a/d", b"a/d/" + b"x" * 255, b"a/" * 12, b"\xff/d")
    for folder in folders:
        os.makedirs(os.path.join(top, folder), exist_ok=True)
    for folder in folders:
        for name in NAMES:
            with contextlib.suppress(OSError), open(os.path.join(top, folder, name), "wb"):
                pass


def ignore_file(chance: random.Random) -> bytes:
    """Return an ignore file out of pieces of patterns, or of anything."""
    if chance.random() < 0.002:
        return b"\n".join(b"*%d*a?" % number for number in range(chance.randint(1000, 50_000)))
    if chance.random() < 0.1:
        return chance.randbytes(chance.randint(0, 2000))
    lines = [b"".join(chance.choices(PIECES, k=chance.randint(1, 8))) for _ in range(chance.randint(1, 12))]
    if chance.random() < 0.1:
        lines.append(chance.choice(LONG_PIECES) + chance.choice(PIECES))
    data = b"\n".join(lines)
    return mutate(chance, data, PIECES) if chance.random() < 0.3 else data


def fuzz_ignore(count: int, seed: int, work: Path, outcome: Outcome) -> None:
    """Walk a tree by random ignore files."""
    root = work / "tree"
    make_tree(root)
    places = [root / name for name in (".gitignore", ".dowseignore", "a/.gitignore", "a/d/.gitignore")]
    for number in range(count):
        chance = random.Random(f"ignore {seed} {number}")
        chosen = chance.sample(places, chance.randint(1, 3))
        for place in chosen:
            if chance.random() < 0.03:
                replace(chance, place, work)
            else:
                write(place, ignore_file(chance))
        outcome.check(f"ignore {number}", lambda: [entry.path for entry in walk(root, user_ignores=False)])
        for place in chosen:
            remove(place)


@contextlib.contextmanager
def alarms() -> Iterator[None]:
    """Turn the alarm into an exception."""

    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    """Fuzz, print the figures, and fail if there is something that must not be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20_000, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--what", choices=("git", "ignore", "all"), default="all")
    parser.add_argument("--seconds", type=float, default=MAX_SECONDS, help="what takes longer hangs")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = tempfile.gettempdir() + "/no-such-home"
    results: dict[str, object] = {"seed": options.seed}
    with work_folder(None) as work, alarms():
        for what, fuzz in (("git", fuzz_git), ("mining", fuzz_mining), ("ignore", fuzz_ignore)):
            if options.what not in ("all", "git" if what == "mining" else what):
                continue
            count = max(options.count // MINED_SHARE, 1) if what == "mining" else options.count
            outcome = Outcome(options.seconds)
            started = time.perf_counter()
            fuzz(count, options.seed, work, outcome)
            results[what] = {**outcome.report(), "seconds": round(time.perf_counter() - started, 1)}
            print(what, results[what], flush=True)
    if options.out:
        write_results(options.out, results)
    return 0 if all(is_clean(report) for report in results.values() if isinstance(report, dict)) else 1


if __name__ == "__main__":
    sys.exit(main())
