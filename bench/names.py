"""How many of the names that Universal Ctags finds are known to dowse, written to a result file.

    python bench/names.py --repos DIR [--only NAME …] [--work DIR] [--out FILE]

The repositories are in bench/manifests/names.json: DIR/NAME is a checkout of the commit. `parse`: dowse
defines the name at that line. The rest is asked of a sample of different names (a fixed seed). `search`: the
first hit for the name alone is a definition of it; `search_same_name`: or has the name, and a definition
follows before any other name; `known`: the answer does not deny it; `symbols`: it is listed; `lsp`: the
definition at one use. Of several definitions any is right. Locals, parameters and anonymous names are left
out; of JavaScript and TypeScript, variables in indented lines are locals. Mistakes of ctags count; beside are
the shares without those that a rule tells (`MISTAKES`), and their number.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

from dowse import Index
from dowse.interfaces.lsp.cursor import symbols_at
from dowse.interfaces.lsp.encoding import Encoding
from dowse.interfaces.lsp.source import Source
from dowse.parsing.languages import LANGUAGES

from common import work_folder, write_results

# Names of each repository that are searched.
SEED, SAMPLE = 37, 220
# With the endings of files that this version of ctags does not know.
ENDINGS = "JavaScript=+.cjs TypeScript=+.cts TypeScript=+.mts TypeScript=+.tsx Sh=+.bats".split()
CTAGS = "ctags --output-format=json --fields=+nKzls --sort=no --links=no".split()
# What the parser of another language finds in a file tells nothing about this one's.
SAME_LANGUAGE = {"C#": "csharp", "C++": "cpp", "Sh": "bash", "CUDA": "cpp"}
# Rules read "language kind of-its-scope name line", as ctags has them. Variables of functions and such:
LOCAL = re.compile(
    r"\w+ (?:local|parameter|label|heredoc|receiver|macroparam) "
    r"|\w+ \w+ \w* (?:__anon|anonFunc|[Aa]nonymous[A-Z]\w*[0-9a-f]{8}|<lambda>)|\w+ \w+ \w*  "
    r"|(?:javascript|typescript|kotlin|php) (?:constant|variable|class|property) (?:function|method) "
    r"|(?:javascript|typescript) (?:constant|variable) \w* \S+ \s"
    r"|(?:javascript|typescript) class \w* \S+ \s(?!.*\b(?:class|function|prototype)\b)"
    r"|php variable \w* \S+ \s(?!.*\b(?:public|protected|private|var|static|readonly)\b)"
)
# Tags that are no definitions of a name.
MISTAKES = {
    "import": r"(?:php|typescript) alias \w* \S+ (?:\s*(?:use|import)\b(?!.*\bas\b)|\s+type\s+\w+.*,?$)",
    "implementation of a type": r"\w+ implementation ",
    "description of a test": r"\w+ test ",
    "first part of a name": r"haskell module \w* (\S+) .*\b\1\.",
    "name without its mark": r"ruby alias \w* (\S+) .*\b\1[?!]",
    "array taken for a function": r"bash function \w* \S+= ",
    "no function": r"lua function \w* (\S*?)(\w+) (?!.*\bfunction\s+\1\2\b)(?!.*\b\2\W*=\s*function\b)"
    r"|haskell function \w* \S+ \$\(",
    "parameter or type": r"csharp field \w* (\S+) (?!.*\b\1\s*(?:[;,{[]|=(?!>)|$))"
    r"|(?:java|type)script (?:constant|variable|property|field) \w* (\S+) (?!(?:.*[\[{,;.]|.*\b(?:const|let"
    r"|[gs]et|var|public|private|protected|readonly|static|declare|export|async|abstract|override)\s)?\s*[\"'#]?\2\b)",
    "reserved word": r"(?:java|type)script \w+ \w* (?:as|break|case|const|else|export|extends|false|if|infer"
    r"|instanceof|new|return|satisfies|this|true) |haskell \w+ \w* (?:class|data|deriving|family|foreign"
    r"|import|infix[lr]|instance|newtype|type|where) ",
}
NO_CODE = re.compile(
    r"^\s*(?:#(?!\s*(?:if|define|undef|el))|//|/?\*|--|;|%).*|.*\"\"\".*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
    r"|`[^`]*`|//.*|/\*.*?\*/|\s#\s.*|^\s*(?:package\b.*|(?:import|use|using|from)\s+(?:[a-z_]\w*(?:\.|::|\\))+)"
)
# A parameter, variable or function of the name NAME, whatever ctags knows of it.
DECLARED = (
    r"(?m)[\w>\]?*&] +(?<!return )(?<!new )(?<!in )(?<!await )[*&]*NAME\s*(?:[,)=;:\[]|\([^;\n]*\{)"
    r"|^\s*(?:[\w*, ]+,\s*)?NAME\s*(?:,[\w*, ]+)?:?=(?!=)|\|[^|\n]*\bNAME\b[^|\n]*\|"
    r"|[(,]\s*NAME(?:\)\s*[:=]|\??:)|\b(?:def|fn|func|fun|function|lambda|for|catch|rescue|with)\b[^\n]*\bNAME\b"
    r"|\bNAME\b[^\n(]*\)?\s*[=-]>"
)

Files = dict[str, tuple[str, list[str]]]  # language and lines by path


class Tag(NamedTuple):
    """A definition as ctags sees it."""

    name: str
    path: str
    line: int
    kind: str
    language: str  # as dowse names it
    mistake: str = ""  # why it is no definition of a name

    def spellings(self) -> set[str]:
        """Return the name as ctags has it, and without what it adds: scope, arity, sigil."""
        plain = re.split(r"[.:\\]", self.name)[-1] or self.name
        operator = self.name.replace(" ", "") if self.name.startswith("operator") else plain.rstrip("=")
        return {self.name, plain, operator, plain.strip("$#'\"`")}


Outcomes = dict[str, dict[Tag, bool]]  # what is known, by what was asked


class Definitions(NamedTuple):
    """What ctags finds in a repository."""

    tags: list[Tag]  # without locals
    by_spelling: dict[str, list[Tag]]  # with them
    files: Files

    def sample(self, count: int) -> list[Tag]:
        """Return a random choice of names, each once in a language."""
        tags = sorted(self.tags, key=lambda tag: not tag.mistake)
        names = list({(tag.name, tag.language): tag for tag in tags}.values())
        return random.Random(SEED).sample(names, min(count, len(names)))

    def has(self, name: str, found: Iterable[Any]) -> bool:
        """Whether one of these symbols is what ctags calls a definition of the name."""
        return any(
            each.path == tag.path
            and each.start_line <= tag.line <= each.end_line
            and (each.start_line == tag.line or each.name in tag.spellings())
            for each in found
            for tag in self.by_spelling[name]
        )


def run_ctags(root: Path, files: Files, *options: str) -> list[dict[str, Any]]:
    """Return the tags in some files, as ctags describes them."""
    command = (*CTAGS, *(f"--map-{each}" for each in ENDINGS), *options, "-L", "-", "-f", "-")
    done = subprocess.run(command, cwd=root, input="\n".join(files).encode(), capture_output=True, check=True)
    return [json.loads(line.decode("utf-8", "replace")) for line in done.stdout.splitlines()]


def definitions(index: Index) -> Definitions:
    """Return what ctags defines in the files of a repository that have a grammar."""
    with index.backend.reader() as reader:
        stored = reader.file_rows([row for row, *_ in reader.paths()])
        texts = {each.path: reader.text(each.file_id).decode().split("\n") for each in stored}
    files = {each.path: (each.language, texts[each.path]) for each in stored if each.language in LANGUAGES}
    quotes = {path: [0, *accumulate(line.count('"""') for line in lines)] for path, lines in texts.items()}
    rows = run_ctags(index.root, files)
    macros = {row["name"] for row in rows if row["kind"] == "macro"}
    found: dict[Tag, list[str]] = {}  # with what is around them
    local = set()
    for row in rows:
        name, path, kind, (language, lines) = row["name"], row["path"], row["kind"], files[row["path"]]
        theirs = SAME_LANGUAGE.get(row["language"], row["language"].lower())
        if theirs == language or {theirs, language} <= {"c", "cpp"}:
            text = f"{language} {kind} {row.get('scopeKind', '')} {name} {lines[row['line'] - 1]}"
            wrong = next((why for why, rule in MISTAKES.items() if re.match(rule, text)), "")
            if kind == "function" and name in macros and language in ("c", "cpp"):
                wrong = "use of a macro"
            wrong = "in a text" if quotes[path][row["line"] - 1] % 2 else wrong
            tag = Tag(name, path, row["line"], kind, language, wrong)
            found[tag] = row.get("scope", "").split(".")
            if LOCAL.match(text):
                local.add((path, name))
                found[tag].append(name)
    by_spelling = defaultdict(list)
    for tag in found:
        for name in tag.spellings():
            by_spelling[name].append(tag)
    tags = [tag for tag, around in found.items() if not any((tag.path, each) in local for each in around)]
    return Definitions(sorted(tags), by_spelling, files)


def known_to_parser(known: Definitions, index: Index) -> Outcomes:
    """Tell of each name whether dowse defines it at that line."""
    places = defaultdict(list)
    with index.backend.reader() as reader:
        for row in reader.rows_named(list(known.by_spelling), 10_000_000, with_names=True):
            places[row.path, row.name].append(range(row.start_line, row.end_line + 1))
    spans = {tag: [each for name in tag.spellings() for each in places[tag.path, name]] for tag in known.tags}
    return {"parse": {tag: any(tag.line in each for each in lines) for tag, lines in spans.items()}}


def known_to_search(known: Definitions, index: Index) -> Outcomes:
    """Ask for a sample of the names, each alone, and look each up as a symbol."""
    outcomes: Outcomes = defaultdict(dict)
    for tag in known.sample(SAMPLE):
        answer = index.search(tag.name, k=20)
        hits = [hit.symbol for hit in answer]
        other = next((at for at, hit in enumerate(hits) if hit.name not in tag.spellings()), len(hits))
        outcomes["search"][tag] = known.has(tag.name, hits[:1])
        outcomes["search_same_name"][tag] = known.has(tag.name, hits[: max(1, other)])
        outcomes["symbols"][tag] = known.has(tag.name, index.symbols(tag.name, limit=1_000))
        outcomes["known"][tag] = all(note.code != "unknown-name" for note in answer.notes)
    return outcomes


def known_to_lsp(known: Definitions, index: Index) -> Outcomes:
    """Ask the language server for the definition at one use of each name, in a file without such a local."""
    outcome, chance = dict[Tag, bool](), random.Random(SEED)
    defined = {(tag.name, tag.path, tag.line) for tag in known.tags}
    rows = run_ctags(index.root, known.files, "--kinds-all=*")
    local = {each[:2] for each in {(row["name"], row["path"], row["line"]) for row in rows} - defined}
    sample = known.sample(4 * SAMPLE)
    uses = uses_of({tag.name for tag in sample}, known.files, defined)
    with index.backend.reader() as reader:
        source = Source(None, reader, {}, Encoding.UTF32)
        for tag in sample:
            if len(outcome) == SAMPLE:
                break
            here = [use for use in uses[tag.name, tag.language] if (tag.name, use[0]) not in local]
            chance.shuffle(here)
            rule = re.compile(DECLARED.replace("NAME", re.escape(tag.name)))
            use = next((use for use in here if not rule.search("\n".join(known.files[use[0]][1]))), None)
            if use:
                path, line, column = use
                meant = symbols_at(source, reader.source_files([path])[0], types.Position(line - 1, column))
                outcome[tag] = known.has(tag.name, (each.row for each in meant))
    return {"lsp": outcome}


def uses_of(wanted: set[str], files: Files, defined: set[Any]) -> dict[tuple[str, str], list[Any]]:
    """Return path, line and column of identifiers that no tag is at, by name and language."""
    places = defaultdict(list)
    for path, (language, lines) in files.items():
        in_text = False
        for number, line in enumerate(lines, 1):
            in_text ^= line.count('"""') == 1
            code = "" if in_text else NO_CODE.sub(lambda each: " " * len(each[0]), line)
            for word in re.finditer(r"[\w$]+", code):
                if word[0] in wanted and (word[0], path, number) not in defined:
                    places[word[0], language].append((path, number, word.start()))
    return places


def measure(repos: Path, folder: Path, name: str) -> Outcomes:
    """Ask everything of one repository."""
    with Index.open(repos / name, index_dir=str(folder / name), encoder="none", processes=1) as index:
        index.update()
        known = definitions(index)
        asked = (known_to_parser, known_to_search, known_to_lsp)
        return {title: dict(found) for each in asked for title, found in each(known, index).items()}


def tables(title: str, outcome: dict[Tag, bool], sets: dict[str, str]) -> dict[str, Any]:
    """Return and print the shares of names that are known, by language and set."""
    result: dict[str, Any] = defaultdict(dict)
    for ending in ("", "_without_mistakes"):
        groups = defaultdict(list)
        for tag, ok in ((tag, ok) for tag, ok in outcome.items() if not (ending and tag.mistake)):
            groups["languages", tag.language].append(ok)
            groups["sets", sets[tag.path.partition("/")[0]]].append(ok)
            groups["all", "all"].append(ok)
        for (group, name), oks in sorted(groups.items()):
            share = round(sum(oks) / len(oks), 4)
            result[group + ending][name] = {"names": len(oks), "known": sum(oks), "share": share}
            print(f"{title} {group + ending:28} {name:12} {sum(oks):>7} of {len(oks):>7}  {share:.1%}")
    mistakes = Counter(f"{tag.language}: {tag.mistake}" for tag in outcome if tag.mistake)
    return {**result, "mistakes": dict(sorted(mistakes.items()))}


def main() -> None:
    """Measure all repositories."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = json.loads((Path(__file__).parent / "manifests" / "names.json").read_text())
    sets = {row["name"]: row["set"] for row in rows if not options.only or row["name"] in options.only}
    outcomes: Outcomes = defaultdict(dict)
    with work_folder(options.work) as folder, ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, found in zip(sets, pool.map(partial(measure, options.repos, folder), sets), strict=True):
            for title, tags in found.items():
                outcomes[title] |= {tag._replace(path=f"{name}/{tag.path}"): tags[tag] for tag in tags}
            print(name, flush=True)
    results = {title: tables(title, outcome, sets) for title, outcome in outcomes.items()}
    if options.out:
        write_results(options.out, results)


if __name__ == "__main__":
    main()
