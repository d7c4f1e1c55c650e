"""From real files in several languages to files of pairs, with the exclusion list applied."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import os
import re
import signal
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse_training import cli_pairs
from dowse_training.pairs.duplicates import Duplicates
from dowse_training.pairs.exclusion import Exclusion
from dowse_training.pairs.mine import CAP_EXCEEDED, Effort, mine_pairs
from dowse_training.pairs.model import Package
from dowse_training.pairs.names import known_names
from dowse_training.pairs.output import TRAIN, VALID, Output, split_of
from dowse_training.pairs.package import Wanted
from dowse_training.pairs.sources.local import Local

PYTHON = '''import os


def free_space(path, reserve=0):
    """Return the bytes that may still be written below a folder.

    :param reserve: what must stay free
    """
    status = os.statvfs(path)
    return max(0, status.f_bavail * status.f_frsize - reserve)


def largest_files(folder, count):
    """List the largest files below a folder, the largest first."""
    sizes = [(entry.stat().st_size, entry.path) for entry in os.scandir(folder) if entry.is_file()]
    return [path for _, path in sorted(sizes, reverse=True)[:count]]


def test_nothing():
    """Check that nothing is something else."""
    assert free_space("/") != largest_files("/", 1)
'''
JAVASCRIPT = """/**
 * Wait until no call came for some time, then call once with the last arguments.
 */
function debounce(callback, delay) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => callback(...args), delay);
  };
}
"""
GO = """package mail

import "strings"

// Normalise lowers the domain of an address and leaves its local part alone.
func Normalise(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	return address[:at] + strings.ToLower(address[at:])
}

// Domain is what stands behind the last at sign of an address.
func Domain(address string) string {
	return address[strings.LastIndexByte(address, '@')+1:]
}
"""
RUST = """/// Splits a line at the first separator that is not quoted.
pub fn split_unquoted(line: &str, separator: char) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        if character == '"' {
            quoted = !quoted;
        } else if character == separator && !quoted {
            return Some((&line[..at], &line[at + character.len_utf8()..]));
        }
    }
    None
}
"""
TAGGED = """/**
 * @summary Clamp a number to a range
 *
 * @param {number} value
 */
function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
"""
TREES = {
    "disk": {"disk/space.py": PYTHON, "tests/test_space.py": PYTHON},
    "wait": {"lib/debounce.js": JAVASCRIPT, "node_modules/other/debounce.js": JAVASCRIPT},
    "mail": {"mail/normal.go": GO},
    "split": {"src/lib.rs": RUST},
    "forked-disk": {"space.py": PYTHON.replace("    ", "\t")},
    "listed": {"unquoted.rs": RUST.replace("Splits", "Cuts")},
    "copies": {"deep/inside/listed/core.py": PYTHON},
    "innocent-name": {"listed/core.py": PYTHON.replace("import os", "import os, sys")},
}
ALL = {"free_space", "largest_files", "debounce", "Normalise", "Domain", "split_unquoted"}


@pytest.fixture
def trees(tmp_path):
    for name, files in TREES.items():
        for path, text in files.items():
            target = tmp_path / "trees" / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return [str(tmp_path / "trees" / name) for name in TREES]


def documented_hash(text):
    """The definition of the list's documentation, written down a second time."""
    return hashlib.sha1(re.sub(r"\W+", "", text).lower().encode()).hexdigest()[:16]


def exclude_file(folder, repos=(), code=(), docs=()):
    content = {
        "repos": list(repos),
        "code_sha1": [documented_hash(text) for text in code],
        "doc_sha1": [documented_hash(text) for text in docs],
    }
    (folder / "exclude.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
    return str(folder / "exclude.json.gz")


def run(*arguments):
    parser = argparse.ArgumentParser()
    cli_pairs.add_arguments(parser)
    return cli_pairs.run(parser.parse_args([str(argument) for argument in arguments]))


def pairs_in(folder):
    """All pairs of a folder by the name of their file."""
    return {
        path.name: [json.loads(line) for line in lzma.open(path, "rt", encoding="utf-8")]
        for path in sorted(Path(folder).glob("*.jsonl.xz"))
    }


def names_in(folder):
    return {pair["name"] for pairs in pairs_in(folder).values() for pair in pairs}


def test_pairs_of_several_languages_are_written_with_manifest_and_statistics(trees, tmp_path):
    assert run(*trees, "--out", tmp_path / "out", "--valid", 0, "--workers", 1) == 0
    found = pairs_in(tmp_path / "out")
    assert {name: {pair["name"] for pair in pairs} for name, pairs in found.items()} == {
        "python.jsonl.xz": {"free_space", "largest_files"},
        "javascript.jsonl.xz": {"debounce"},
        "go.jsonl.xz": {"Normalise", "Domain"},
        "rust.jsonl.xz": {"split_unquoted"},
    }
    (debounce,) = found["javascript.jsonl.xz"]
    assert debounce == {
        "pkg": "wait",
        "name": "debounce",
        "doc": "Wait until no call came for some time, then call once with the last arguments.",
        "code": JAVASCRIPT[JAVASCRIPT.index("function") :].rstrip(),
        "path": "lib/debounce.js",
    }
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert {entry["package"]: entry["pairs"] for entry in manifest} == {
        "disk": {"python": 2},
        "wait": {"javascript": 1},
        "mail": {"go": 2},
        "split": {"rust": 1},
    }
    assert {entry["registry"] for entry in manifest} == {"local"}
    statistics = json.loads((tmp_path / "out/statistics.json").read_text())
    assert statistics["packages"] == len(TREES)
    assert statistics["kept"]["go"] == {"train": 2}
    assert statistics["dropped"]["python"]["test"] == 4
    assert statistics["dropped"]["python"]["file: test"] == 1
    assert statistics["dropped"]["python"]["exact duplicate"] == 6
    assert statistics["dropped"]["rust"] == {"exact duplicate": 1}


def test_processes_give_what_one_process_gives(trees, tmp_path):
    run(*trees, "--out", tmp_path / "one", "--workers", 1, "--downloads", 1)
    run(*trees, "--out", tmp_path / "two", "--workers", 2, "--downloads", 3)
    assert pairs_in(tmp_path / "one") == pairs_in(tmp_path / "two")
    for name in ("manifest.json", "statistics.json"):
        assert (tmp_path / "one" / name).read_text() == (tmp_path / "two" / name).read_text()


def test_listed_packages_give_nothing_by_name_or_by_top_level_folder(trees, tmp_path):
    listed = exclude_file(tmp_path, repos=["someone/disk", "other/Forked_Disk", "x/listed", "y/mail"])
    assert run(*trees, "--out", tmp_path / "out", "--workers", 1, "--exclude", listed) == 0
    assert names_in(tmp_path / "out") == {"debounce", "split_unquoted"}
    statistics = json.loads((tmp_path / "out/statistics.json").read_text())
    assert statistics["dropped"]["python"] == {"file: folder excluded": 1}
    assert statistics["dropped"]["any"] == {"package excluded": 5}


def test_listed_code_is_left_out_in_every_language(trees, tmp_path):
    code = [
        "def free_space(path, reserve=0):\n\n  status = os.statvfs(path)\n"
        "  return max(0, status.f_bavail * status.f_frsize - reserve)",
        GO[GO.index("func Domain") :],
        RUST[RUST.index("pub fn") :].upper(),
    ]
    listed = exclude_file(tmp_path, code=code)
    run(*trees[:4], "--out", tmp_path / "out", "--workers", 1, "--exclude", listed)
    assert names_in(tmp_path / "out") == ALL - {"free_space", "Domain", "split_unquoted"}


def test_listed_documentation_is_left_out_in_every_language(trees, tmp_path):
    (tmp_path / "trees/wait/lib/extra.js").write_text(TAGGED)
    docs = [
        "@summary Clamp a number to a range",
        "Return the bytes that may still be written below a folder.",
        "wait until NO call came for some time: then call once, with the last arguments",
        "Normalise lowers the domain of an address\nand leaves its local part alone.",
    ]
    listed = exclude_file(tmp_path, docs=docs)
    run(*trees[:4], "--out", tmp_path / "out", "--workers", 1, "--exclude", listed)
    assert names_in(tmp_path / "out") == ALL - {"free_space", "debounce", "Normalise"}


def test_a_corpus_that_is_evaluated_on_is_left_out(trees, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    with_doc = JAVASCRIPT
    without_doc = GO[GO.index("func Domain") :]
    lines = [{"code": with_doc, "language": "javascript"}, {"text": without_doc, "language": "go"}]
    corpus.write_text("".join(json.dumps({"_id": str(n), **line}) + "\n" for n, line in enumerate(lines)))
    run(*trees[:4], "--out", tmp_path / "out", "--workers", 1, "--exclude-corpus", corpus)
    assert names_in(tmp_path / "out") == ALL - {"debounce", "Domain"}


def test_known_pairs_are_not_repeated(trees, tmp_path):
    run(trees[0], "--out", tmp_path / "before", "--workers", 1, "--valid", 0)
    run(*trees[:4], "--out", tmp_path / "out", "--workers", 1, "--known", tmp_path / "before/python.jsonl.xz")
    assert names_in(tmp_path / "out") == ALL - {"free_space", "largest_files"}


def test_a_package_gives_at_most_the_cap(trees, tmp_path):
    run(*trees[:4], "--out", tmp_path / "out", "--workers", 1, "--cap", 1, "--valid", 0)
    assert {name: len(pairs) for name, pairs in pairs_in(tmp_path / "out").items()} == {
        "python.jsonl.xz": 1,
        "javascript.jsonl.xz": 1,
        "go.jsonl.xz": 1,
        "rust.jsonl.xz": 1,
    }
    statistics = json.loads((tmp_path / "out/statistics.json").read_text())
    assert statistics["dropped"]["go"][CAP_EXCEEDED] == 1


def test_only_the_languages_asked_for_are_read(trees, tmp_path):
    run(*trees, "--out", tmp_path / "out", "--workers", 1, "--languages", "go,rust", "--valid", 0)
    assert set(pairs_in(tmp_path / "out")) == {"go.jsonl.xz", "rust.jsonl.xz"}


def test_packages_are_split_whole(trees, tmp_path):
    run(*trees[:4], "--out", tmp_path / "out", "--workers", 1, "--valid", 1)
    assert all(name.endswith(".valid.jsonl.xz") for name in pairs_in(tmp_path / "out"))
    assert split_of("a-package", 0) == TRAIN
    assert split_of("a-package", 1) == VALID
    share = sum(split_of(f"package-{number}", 0.02) == VALID for number in range(20_000)) / 20_000
    assert 0.016 < share < 0.024
    assert split_of("Django", 0.5) == split_of("django", 0.5)


def test_what_cannot_be_fetched_is_counted_and_the_rest_goes_on(trees, tmp_path):
    missing = str(tmp_path / "missing")
    assert run(missing, trees[2], "--out", tmp_path / "out", "--workers", 1) == 0
    statistics = json.loads((tmp_path / "out/statistics.json").read_text())
    assert statistics["packages_failed"] == {"no such folder": 1}
    assert statistics["packages_failed_examples"] == {"no such folder": [f"local:{missing}"]}
    assert names_in(tmp_path / "out") == {"Normalise", "Domain"}


def test_nothing_found_is_said_by_the_exit_code(tmp_path):
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "--out", tmp_path / "out", "--workers", 1) == 1


def test_interrupted_mining_leaves_what_it_had(trees, tmp_path):
    """The third package interrupts, as Ctrl-C would."""
    seen = []

    def interrupt(statistics):
        seen.append(statistics.packages)
        if len(seen) == 3:
            raise KeyboardInterrupt

    wanted = Wanted(frozenset({"python", "javascript", "go", "rust"}), 10, Exclusion())
    names = [(Local(), tree) for tree in trees]
    with pytest.raises(KeyboardInterrupt), Output(tmp_path / "out", 0) as output:
        mine_pairs(names, wanted, Duplicates(), output, Effort(1, 1), interrupt)
    assert names_in(tmp_path / "out") == ALL - {"split_unquoted"}
    assert not list((tmp_path / "out").glob("*.part"))


class Terminator(SimpleHTTPRequestHandler):
    """Asks the process that asks it to end."""

    def do_GET(self):
        os.kill(os.getpid(), signal.SIGTERM)
        self.send_error(404)

    def log_message(self, format, *arguments):
        pass


def test_terminated_mining_leaves_what_it_had(trees, tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with ThreadingHTTPServer(("127.0.0.1", 0), Terminator) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        options = ["--workers", 1, "--downloads", 1, "--index-url", address]
        code = run(*trees[:4], "pypi:thing", "--out", tmp_path / "out", *options)
        server.shutdown()
        thread.join()
    assert code == 130
    assert names_in(tmp_path / "out") <= ALL
    assert json.loads((tmp_path / "out/statistics.json").read_text())["packages"] < 5
    assert not list((tmp_path / "out").glob("*.part"))
    assert signal.getsignal(signal.SIGTERM) == before


def test_lists_of_sources_are_read(trees, tmp_path):
    (tmp_path / "list").write_text(f"# repositories\n{trees[2]}  # mail\n\n{trees[2]}\n")
    assert run("--from", tmp_path / "list", "--out", tmp_path / "out", "--workers", 1) == 0
    assert json.loads((tmp_path / "out/statistics.json").read_text())["packages"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to mine"),
        (["x", "--languages", "python,klingon"], "klingon"),
        (["x", "--exclude", "missing.json"], "not an exclusion list"),
        (["x", "--known", "missing.jsonl"], "not a file of pairs"),
        (["--from", "missing.txt"], "can't be read"),
    ],
)
def test_mistakes_are_told_before_anything_is_mined(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DowseError, match=message):
        run(*arguments, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("requests\n# no\nclick\n", ["requests", "click"]),
        ('{"rows": [{"project": "requests", "download_count": 3}]}', ["requests"]),
        ('["requests", "click"]', ["requests", "click"]),
    ],
)
def test_lists_of_top_projects_come_in_several_forms(content, names, tmp_path):
    (tmp_path / "top").write_text(content)
    assert list(cli_pairs._top_names(tmp_path / "top")) == names


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("usr/lib/python3/dist-packages/thing", "thing"),
        ("usr/share/gocode/src/github.com/owner/thing", "thing"),
        ("usr/share/cargo/registry/thing-1.0", "thing-1.0"),
        ("src/thing/inner", "thing"),
        ("thing/inner", "thing"),
    ],
)
def test_a_package_is_known_by_the_folders_that_hold_its_source(folder, name, tmp_path):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder).with_name("thing-1.egg-info").mkdir()
    names = known_names(Package("debian", "other", "1", "", tmp_path))
    assert {"other", name} <= names
    assert "inner" not in names


def test_one_folder_of_many_does_not_name_the_project(tmp_path):
    for folder in ("src/common", "src/gui", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    assert known_names(Package("debian", "other", "1", "", tmp_path)) == {
        "other",
        tmp_path.name,
        "src",
        "tools",
    }
