"""How many of the names that Universal Ctags finds are known to dowse, written to a result file.

    python bench/names.py parse  --repos DIR [--only NAME …] [--set held_out] [--misses 20] [--out FILE]
    python bench/names.py search --repos DIR [--work DIR] [--out bench/results/names.json]

`parse` compares every name with what `parse_file` defines at that line; there is no index. `search` indexes
each repository by words, takes a sample of the names (a fixed seed), and asks for each of them alone: whether
the first hit is a definition of that name, whether the answer denies that there is one, and whether
`symbols` lists it. The repositories are in bench/manifests/names.json: DIR/NAME is a checkout of the commit.
Locals, parameters and anonymous names are left out, and files that dowse does not index. What ctags mistakes
for a definition counts; beside are the shares without the mistakes that a rule tells, and their number.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dowse.parsing.languages import LANGUAGES, detect_language
from dowse.parsing.parser import parse_file
from dowse.source.content import classify_content, decode
from dowse.source.walk import WalkedFile, walk
from dowse.types import Symbol, SymbolRow

from common import work_folder, write_results

MANIFEST = Path(__file__).parent / "manifests" / "names.json"
SEED = 37
# What the index reads of a file to tell its language.
HEAD = 65_536
# Names of each repository that are searched.
SAMPLE = 220
CTAGS = ("ctags", "--output-format=json", "--fields=+nKzls", "--sort=no", "--links=no", "-L", "-", "-f", "-")
# Kinds of ctags that are local, or name nothing.
LOCAL_KINDS = frozenset(["local", "parameter", "label", "heredoc", "receiver", "macroparam"])
ANONYMOUS = re.compile(r"__anon|anonFunc|[Aa]nonymous[A-Z]\w*[0-9a-f]{8}|<lambda>")
# ctags reports variables in functions of these languages. Their scope, or that of what holds them, tells most
# of them; in JavaScript and TypeScript what is declared in an indented line is in a function or a block.
WITH_LOCALS = frozenset(["javascript", "typescript", "kotlin", "php"])
VARIABLES = frozenset(["constant", "variable", "class", "property"])
DECLARED_IN_BLOCK = re.compile(r"\s+(?:export\s+)?(?:(?:for|if|while)\b.*\b)?(?:const|let|var|using)\b")
# The line that opens the body of a function, and what is indented below it.
OPENS_FUNCTION = re.compile(r".*(?:=>|\bfunction\b.*|\)(?:\s*:[^{]*)?)\s*\{\s*$")
OBJECT_IN_BLOCK = re.compile(r"\s+(?!.*\b(?:class|function|prototype)\b)")
IN_FUNCTION_OF_PHP = re.compile(r"\s+(?!.*\b(?:public|protected|private|var|static|readonly)\b)")
# Tags that are no definitions of a name, by ctags' own kind or text.
IMPORT = re.compile(r"\s*(?:use|import)\b(?!.*\bas\b)|\s+type\s+\w+(?:\s+as\s+\w+)?,?\s*$")
ECMASCRIPT_WORDS = "as break case const else extends false if infer instanceof new return satisfies this true"
RESERVED = {
    "javascript": frozenset(ECMASCRIPT_WORDS.split()),
    "typescript": frozenset(ECMASCRIPT_WORDS.split()),
    "haskell": frozenset(
        "class data deriving family foreign import infixl infixr instance newtype type where".split()
    ),
}
# What the parser of another language finds in a file tells nothing about this one's.
SAME_LANGUAGE = {"C#": "csharp", "C++": "cpp", "Sh": "bash", "CUDA": "cpp"}


class Tag(NamedTuple):
    """A definition as ctags sees it."""

    name: str
    path: str
    line: int
    kind: str
    language: str  # as dowse names it
    mistake: str = ""  # why it is no definition of a name


class Repository(NamedTuple):
    """A row of the manifest."""

    name: str
    url: str
    commit: str
    set: str  # "development": misses were read one by one; "held_out": measured only


def repositories(manifest: Path, only: Sequence[str], chosen: str) -> list[Repository]:
    """Return the rows of the manifest that are asked for."""
    rows = [Repository(**row) for row in json.loads(manifest.read_text())]
    return [row for row in rows if (not only or row.name in only) and chosen in ("", row.set)]


def indexed_files(root: Path) -> dict[str, tuple[str, bytes]]:
    """Return language and text of every file that dowse indexes and has a grammar for."""
    files = {}
    for entry in walk(root, user_ignores=False):
        if not isinstance(entry, WalkedFile):
            continue
        data = (root / entry.path).read_bytes()
        language = detect_language(entry.path, data[:HEAD])
        if language in LANGUAGES and not classify_content(data, entry.path).skip_reason:
            files[entry.path] = (language, decode(data)[0].encode())
    return files


def tags(root: Path, files: dict[str, tuple[str, bytes]]) -> list[Tag]:
    """Return what ctags defines in some files, without locals."""
    done = subprocess.run(CTAGS, cwd=root, input="\n".join(files).encode(), capture_output=True, check=True)
    rows = [json.loads(line.decode("utf-8", "replace")) for line in done.stdout.splitlines()]
    texts = {row["path"]: files[row["path"]][1].decode().split("\n") for row in rows}
    local = {
        (row["path"], row["name"], row["line"])
        for row in rows
        if is_in_function(row, texts[row["path"]], files[row["path"]][0])
    }
    holders = {(path, name) for path, name, _ in local}
    macros = {row["name"] for row in rows if row["kind"] == "macro"}
    found = set()
    for row in rows:
        name, path, number, language = row["name"], row["path"], row["line"], files[row["path"]][0]
        theirs = SAME_LANGUAGE.get(row["language"], row["language"].lower())
        if (theirs != language and not {theirs, language} <= {"c", "cpp"}) or (path, name, number) in local:
            continue
        around = {(path, holder) for holder in row.get("scope", "").split(".")}
        if language not in WITH_LOCALS or not around & holders:
            wrong = mistake(row, texts[path][number - 1], language, macros)
            found.add(Tag(name, path, number, row["kind"], language, wrong))
    return sorted(found)


def is_in_function(row: dict[str, Any], lines: Sequence[str], language: str) -> bool:
    """Whether a tag is a variable of a function, or has no name."""
    name, kind = row["name"], row["kind"]
    if not name or kind in LOCAL_KINDS or ANONYMOUS.match(name):
        return True
    if language not in WITH_LOCALS or kind not in VARIABLES:
        return False
    if row.get("scopeKind") in ("function", "method"):
        return True
    line = lines[row["line"] - 1]
    if language == "php":
        return kind == "variable" and IN_FUNCTION_OF_PHP.match(line) is not None
    if language == "kotlin":
        return False
    if DECLARED_IN_BLOCK.match(line) or (kind == "class" and OBJECT_IN_BLOCK.match(line)):
        return True
    return kind in ("constant", "variable") and any(
        map(OPENS_FUNCTION.match, openers(lines, row["line"] - 1))
    )


def openers(lines: Sequence[str], index: int) -> Iterator[str]:
    """Yield the lines around one that are indented less, from the inside."""
    depth = indentation(lines[index])
    while depth and index:
        index -= 1
        if lines[index].strip() and indentation(lines[index]) < depth:
            depth = indentation(lines[index])
            yield lines[index]


def indentation(line: str) -> int:
    """Return how far a line is indented."""
    return len(line) - len(line.lstrip())


def mistake(row: dict[str, Any], line: str, language: str, macros: set[str]) -> str:
    """Return why a tag is no definition of a name, or ""."""
    name, kind = row["name"], row["kind"]
    if kind == "alias" and language in ("php", "typescript") and IMPORT.match(line):
        return "import"
    if kind == "implementation":
        return "implementation of a type"
    if kind == "module" and language == "haskell" and f"{name}." in line:
        return "first part of a name"
    if kind == "test":
        return "description of a test"
    if kind == "function" and name in macros and language in ("c", "cpp"):
        return "use of a macro"
    if language == "bash" and name.endswith("="):
        return "array taken for a function"
    return "reserved word" if name in RESERVED.get(language, ()) else ""


def known_at_parse(found: Sequence[Tag], files: dict[str, tuple[str, bytes]]) -> dict[Tag, bool]:
    """Tell of each name whether dowse defines it at that line."""
    by_path = defaultdict(list)
    for tag in found:
        by_path[tag.path].append(tag)
    known = {}
    for path, rows in by_path.items():
        language, text = files[path]
        parsed = parse_file(text, language, path, definitions_only=True)
        lines = {(name.name, name.line) for name in parsed.names}
        spans = defaultdict(list)
        for each in parsed.definitions:
            spans[each.name].append((each.start_line, each.end_line))
        for tag in rows:
            known[tag] = any(
                (name, tag.line) in lines or any(first <= tag.line <= last for first, last in spans[name])
                for name in spellings(tag)
            )
    return known


def spellings(tag: Tag) -> tuple[str, ...]:
    """Return a name as ctags has it, and without what it adds: scope, arity, sigil."""
    name = tag.name
    plain = re.split(r"[.:\\]", name)[-1] or name
    operator = name.replace(" ", "") if name.startswith("operator") else plain.rstrip("=")
    marked = (f"{plain}?", f"{plain}!") if tag.language == "ruby" and tag.kind == "alias" else ()
    return tuple(dict.fromkeys((name, plain, operator, plain.strip("$#'\"`"), *marked)))


def shares(outcome: dict[Tag, bool], key: Callable[[Tag], str]) -> dict[str, dict[str, float]]:
    """Return how many of the names of each group are known."""
    totals, right = Counter(map(key, outcome)), Counter(key(tag) for tag, ok in outcome.items() if ok)
    return {
        group: {"names": count, "known": right[group], "share": round(right[group] / count, 4)}
        for group, count in sorted(totals.items())
    }


def print_misses(outcome: dict[Tag, bool], count: int) -> None:
    """Print a random choice of the names that are not known, by language and kind."""
    groups = defaultdict(list)
    for tag, ok in outcome.items():
        if not ok and not tag.mistake:
            groups[tag.language, tag.kind].append(tag)
    for (language, kind), missed in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"\n{language} {kind}: {len(missed)}")
        for tag in random.Random(SEED).sample(missed, min(count, len(missed))):
            print(f"  {tag.name:32} {tag.path}:{tag.line}")


def by_parsing(rows: Sequence[Repository], arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare all names with what the parser knows."""
    outcome: dict[Tag, bool] = {}
    for row in rows:
        files = indexed_files(arguments.repos / row.name)
        known = known_at_parse(tags(arguments.repos / row.name, files), files)
        outcome |= {tag._replace(path=f"{row.name}/{tag.path}"): ok for tag, ok in known.items()}
    return {"parse": tables(outcome, arguments, {row.name: row.set for row in rows})}


def by_search(rows: Sequence[Repository], arguments: argparse.Namespace) -> dict[str, Any]:
    """Ask for a sample of the names, each alone, and look each up as a symbol."""
    from dowse import Index

    first: dict[Tag, bool] = {}
    listed: dict[Tag, bool] = {}
    denied: list[str] = []
    with work_folder(arguments.work) as folder:
        for row in rows:
            root = arguments.repos / row.name
            found = tags(root, indexed_files(root))
            places = defaultdict(list)
            for tag in found:
                places[tag.name].append(tag)
            sample = random.Random(SEED).sample(found, min(SAMPLE, len(found)))
            where = {"index_dir": str(folder / row.name), "encoder": "none"}
            with Index.open(root, **where) as index:
                index.update()
                for tag in sample:
                    answer = index.search(tag.name, k=1)
                    key = tag._replace(path=f"{row.name}/{tag.path}")
                    first[key] = any(is_definition(hit.symbol, places[tag.name]) for hit in answer)
                    symbols = index.symbols(tag.name, limit=1_000)
                    listed[key] = any(is_definition(each, places[tag.name]) for each in symbols)
                    if any(note.code == "unknown-name" for note in answer.notes):
                        denied.append(f"{key.path}:{key.line} {key.name}")
            print(f"{row.name}: {len(sample)} names", flush=True)
    sets = {row.name: row.set for row in rows}
    results = {"search": tables(first, arguments, sets), "symbols": tables(listed, arguments, sets)}
    return {**results, "denied": len(denied), "denied_names": denied}


def is_definition(symbol: Symbol | SymbolRow, places: Sequence[Tag]) -> bool:
    """Whether a hit is what ctags calls a definition of the name."""
    return any(
        symbol.path == tag.path
        and symbol.start_line <= tag.line <= symbol.end_line
        and (symbol.start_line == tag.line or symbol.name in spellings(tag))
        for tag in places
    )


def tables(outcome: dict[Tag, bool], arguments: argparse.Namespace, sets: dict[str, str]) -> dict[str, Any]:
    """Return and print the shares of names that are known, by set, repository, language and kind."""
    if arguments.language:
        outcome = {tag: ok for tag, ok in outcome.items() if tag.language in arguments.language}
    if arguments.misses:
        print_misses(outcome, arguments.misses)
    right = {tag: ok for tag, ok in outcome.items() if not tag.mistake}
    result = {
        "kinds": shares(outcome, lambda tag: f"{tag.language} {tag.kind}"),
        "repositories": shares(outcome, lambda tag: tag.path.partition("/")[0]),
        "languages": shares(outcome, lambda tag: tag.language),
        "languages_without_mistakes": shares(right, lambda tag: tag.language),
        "sets": shares(outcome, lambda tag: sets[tag.path.partition("/")[0]]),
        "sets_without_mistakes": shares(right, lambda tag: sets[tag.path.partition("/")[0]]),
        "all": shares(outcome, lambda _: "all"),
        "all_without_mistakes": shares(right, lambda _: "all"),
    }
    for title, groups in result.items():
        print(f"\n{title}")
        for group, row in groups.items():
            print(f"  {group:32} {row['known']:>7} of {row['names']:>7}  {row['share']:.1%}")
    mistakes = Counter(f"{tag.language}: {tag.mistake}" for tag in outcome if tag.mistake)
    return {**result, "mistakes": dict(sorted(mistakes.items()))}


def main() -> None:
    """Run one of the levels."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("level", choices=["parse", "search"])
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--set", choices=["development", "held_out"], default="")
    parser.add_argument("--language", nargs="*", default=[])
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path, help="the level's part of this file is replaced")
    arguments = parser.parse_args()
    rows = repositories(arguments.manifest, arguments.only, arguments.set)
    results = (by_parsing if arguments.level == "parse" else by_search)(rows, arguments)
    if arguments.out:
        old = json.loads(arguments.out.read_text())["results"] if arguments.out.exists() else {}
        write_results(arguments.out, {**old, **results})


if __name__ == "__main__":
    main()
