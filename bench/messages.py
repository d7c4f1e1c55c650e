"""Paste the messages of real programs: is the code that writes them the first hit?

    python bench/messages.py CHECKOUT… [--each 10] [--seed 1] [--work DIR] [--failures FILE]
        [--out FILE]

A message is a string literal in a call that raises, logs or prints, of four words or more, in a file that is
no test and no document, whose longest part between values stands once in the code of its repository (tests
and documents may quote it). Placeholders are filled with plausible values, and half of the messages get what
a runtime, a logger or syslog of their language prints before them. Right is the innermost symbol around the
literal. Indexes have no vectors: the place of a message does not depend on them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dowse import Index
from dowse.source.roles import file_role

from common import git, work_folder, write_results

MIN_WORDS, MAX_BYTES = 4, 1_000_000
LANGUAGES = {
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".hpp", ".cxx"), "cpp"),
    **dict.fromkeys((".js", ".ts", ".mjs", ".tsx", ".jsx"), "javascript"),
    **{
        ".go": "go",
        ".rs": "rust",
        ".py": "python",
        ".rb": "ruby",
        ".php": "php",
        ".java": "java",
        ".cs": "csharp",
    },
}
WRITES = re.compile(
    r"(?i)\b(?:raise|throw|panic|bail|die|abort|fatal|fail|warn|error|err|exception|log|logger|debug|info|notice"
    r"|print|println|printf|fprintf|sprintf|eprintln|perror|puts|expect|ensure|assert|message|deprecate)\w*!?"
    r"[^\n;{}\"'`]{0,60}\(?\s*(?=[\"'`]|[fF]\"|\$\")"
)
QUOTES = {
    **dict.fromkeys(("c", "cpp", "java", "csharp", "rust"), '"'),
    **dict.fromkeys(("python", "ruby", "php"), "\"'"),
    **{"go": '"`', "javascript": "\"'`"},
}
# What stands between two literals of one message: an operator, with a value in between, or nothing.
JOIN = re.compile(
    r"\s*(?:(?P<value>(?:\+|<<|\.)\s*[\w.$>\[\]()-]+?\s*(?:\+|<<|\.))|[+.\\]|<<)?\s*[fF$]?(?=[\"'`])"
)
VALUE_BEHIND = re.compile(r"\s*(?:\+|<<|\.)\s*[\w$]")
PLACEHOLDER = {
    **dict.fromkeys(("c", "cpp", "go"), r"%[-+ #0]*[\d.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]"),
    "python": r"%\(\w+\)[a-z]|%[-\d.]*[sdrfxi]|\{[^{}]*\}",
    "ruby": r"#\{[^{}]*\}|%[-\d.]*[sdpif]|%\{\w+\}",
    "php": r"%(?:\d\$)?[-\d.]*[sdfu]|\{\$[^{}]*\}|\$\w+(?:->\w+)?",
    "java": r"%(?:\d\$)?[-\d.,]*[sdfxn]|\{\d*\}",
    "javascript": r"\$\{[^{}]*\}|%[sdoj]|\{\{\s*\w+\s*\}\}",
    "rust": r"\{[^{}]*\}",
    "csharp": r"\{[^{}]*\}",
}
VALUES = [
    "config.yml",
    "/var/lib/app/data.db",
    "user_id",
    "3",
    "4096",
    "'main'",
    '"orders"',
    "parseHeader",
    "127.0.0.1:8080",
]
NUMBERS = ["0", "7", "42", "1024", "65535"]
SYSLOG = ["Nov 18 12:00:01 host app[1234]: ", "2026-03-04T10:11:12.345Z ERROR ", "[error] "]
PREFIXES = {
    "c": ["app: ", "app: error: "],
    "cpp": [
        "terminate called after throwing an instance of 'std::runtime_error'\n  what():  ",
        "E0304 10:11:12.345 ",
    ],
    "go": ["panic: ", "2026/03/04 10:11:12 ", "Error: "],
    "rust": ["Error: ", "error: ", "[2026-03-04T10:11:12Z ERROR app::config] "],
    "python": ["ValueError: ", "ERROR:app.main:", "2026-03-04 10:11:12,345 - app - WARNING - "],
    "ruby": ["app.rb:3:in `run': ", "E, [2026-03-04T10:11:12.345 #1234] ERROR -- : "],
    "php": ["PHP Fatal error:  Uncaught RuntimeException: ", "[2026-03-04 10:11:12] production.ERROR: "],
    "java": [
        'Exception in thread "main" java.lang.IllegalStateException: ',
        "10:11:12.345 [main] ERROR c.a.App - ",
    ],
    "javascript": ["Uncaught Error: ", "TypeError: ", "(node:1234) Warning: "],
    "csharp": ["Unhandled exception. System.InvalidOperationException: ", "fail: App.Worker[0] "],
}


class Message(NamedTuple):
    """A message as a user pastes it, and where it is written."""

    text: str
    path: str
    line: int
    language: str


def main() -> None:
    """Mine, ask, and write the share of messages whose place is first, and among five."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--failures", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    repositories: dict[str, Any] = {}
    failures: list[dict[str, Any]] = []
    everything: list[int] = []
    with work_folder(options.work) as work:
        for root in options.checkouts:
            chance = random.Random(f"{options.seed} {root.name}")
            messages = sample(list(mine(root, chance)), options.each, chance)
            with Index.open(root, index_dir=str(work / root.name), encoder="none") as index:
                index.update()
                ranks = [rank(index, message) for message in messages]
            missed = [(each, place) for each, place in zip(messages, ranks, strict=True) if place != 1]
            failures += [{"repository": root.name, **each._asdict(), "rank": place} for each, place in missed]
            facts = {"revision": git(root, "rev-parse", "HEAD").strip(), "language": messages[0].language}
            repositories[root.name] = {**facts, **shares(ranks)}
            print(root.name, repositories[root.name], flush=True)
            everything += ranks
    results = {"seed": options.seed, "all": shares(everything), "repositories": repositories}
    print(json.dumps(results["all"]))
    if options.failures:
        options.failures.write_text("\n".join(json.dumps(each) for each in failures) + "\n")
    if options.out:
        write_results(options.out, results)


def shares(ranks: list[int]) -> dict[str, Any]:
    """Return how many places are first and among five; rank 0 is none of ten."""
    return {"messages": len(ranks), "first": ranks.count(1), "in_five": sum(0 < each <= 5 for each in ranks)}


def rank(index: Index, message: Message) -> int:
    """Return the rank of the innermost symbol around a literal among ten hits, 0 without."""
    with index.backend.reader() as reader:
        (file,) = reader.source_files([message.path])
        rows = [
            row
            for row in reader.rows_of_files([file.file_id])
            if row.start_line <= message.line <= row.end_line
        ]
    inner = min(rows, key=lambda row: row.end_line - row.start_line)
    for place, hit in enumerate(index.search(message.text, k=10).hits, 1):
        symbol = hit.symbol
        if (symbol.path, symbol.start_line, symbol.end_line) == (
            message.path,
            inner.start_line,
            inner.end_line,
        ):
            return place
    return 0


def sample(messages: list[Message], count: int, chance: random.Random) -> list[Message]:
    """Return some messages of the repository's main language, of as many files as possible."""
    languages = [each.language for each in messages]
    main_language = max(sorted(set(languages)), key=languages.count)
    messages = [each for each in messages if each.language == main_language]
    chance.shuffle(messages)
    used: dict[str, int] = {}
    turns = []
    for each in messages:
        used[each.path] = used.get(each.path, 0) + 1
        turns.append((used[each.path], each))
    return [each for _, each in sorted(turns, key=lambda turn: turn[0])][:count]


def mine(root: Path, chance: random.Random) -> Iterator[Message]:
    """Yield the messages of a checkout, filled in."""
    texts: dict[str, str] = {}
    for path in sorted(git(root, "ls-files").splitlines()):
        place = root / path
        if (
            Path(path).suffix in LANGUAGES
            and not file_role(path)
            and place.is_file()
            and not place.is_symlink()
            and place.stat().st_size <= MAX_BYTES
        ):
            texts[path] = place.read_text("utf-8", "replace")
    code = "\n".join(texts.values())
    for path, text in texts.items():
        language = LANGUAGES[Path(path).suffix]
        for call in WRITES.finditer(text):
            start = text.rfind("\n", 0, call.start()) + 1
            if re.match(r"\s*(?:#(?!define)|//|/?\*)", text[start : call.end()]):
                continue
            parts, raw = literal(text, call.end(), language)
            fixed = re.split(PLACEHOLDER[language], "".join(part for part in parts if part))
            if (
                raw
                and code.count(max(fixed, key=len)) == 1
                and len(re.findall(r"[A-Za-z]{2,}", " ".join(fixed))) >= MIN_WORDS
            ):
                line = text.count("\n", 0, call.end()) + 1
                yield Message(paste(parts, language, chance), path, line, language)


def literal(text: str, start: int, language: str) -> tuple[list[str | None], str]:
    """Return the parts of a literal and those joined to it, None for a value, and the first as written."""
    start += text[start] in "fF$"
    if text[start] not in QUOTES[language] or text[start : start + 3] in ('"""', "'''"):
        return [], ""
    parts: list[str | None] = []
    raw = ""
    while True:
        quote = text[start]
        found = re.compile(rf"{quote}((?:\\.|[^{quote}\\\n])*){quote}").match(text, start)
        if found is None or quote not in QUOTES[language]:
            return parts, raw
        raw = raw or found[1]
        parts.append(found[1])
        join = JOIN.match(text, found.end())
        if join is None:
            return ([*parts, None] if VALUE_BEHIND.match(text, found.end()) else parts), raw
        if join["value"]:
            parts.append(None)
        start = join.end()


def paste(parts: list[str | None], language: str, chance: random.Random) -> str:
    """Return a message as its program prints it."""

    def fill(placeholder: re.Match[str]) -> str:
        return chance.choice(NUMBERS if re.search(r"[dux]$", placeholder[0]) else VALUES)

    text = "".join(
        chance.choice(VALUES) if part is None else re.sub(PLACEHOLDER[language], fill, part) for part in parts
    )
    text = re.sub(r"\\[nrt]", "\n", text).replace("%%", "%")
    text = re.sub(r"\\(.)", r"\1", text).strip()
    if chance.random() < 0.5:
        text = chance.choice([*PREFIXES[language], *SYSLOG]) + text
    return text


if __name__ == "__main__":
    main()
